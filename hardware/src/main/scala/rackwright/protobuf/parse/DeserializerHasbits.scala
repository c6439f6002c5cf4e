package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.memory.LevelStack
import rackwright.port.Status
import rackwright.protobuf.table.DescriptorTable

/** The hasbits of the current message: a window of 128 of them is on chip, the others are in the object.
  *
  * A message is either new, with all bits 0, or is merged into an existing object. The object is read only in the
  * second case, or when a window is loaded again.
  */
class DeserializerHasbits(params: DeserializerParams) extends Module {
  import DeserializerHasbits._

  /** The object was not created by this request, so that no store to its hasbits can be outstanding. */
  val untouched = IO(Input(Bool()))

  /** Address and size in bytes of the message's hasbits. */
  val base = IO(Input(UInt(DescriptorTable.addressBits.W)))
  val bytes = IO(Input(UInt(16.W)))

  /** A hasbit, and whether it is on chip. */
  val index = IO(Input(UInt(16.W)))
  val covered = IO(Output(Bool()))

  /** Sets a hasbit that is on chip. */
  val set = IO(Flipped(Valid(UInt(bitBits.W))))

  /** Loads the window of a hasbit; stores the window on chip. Each takes until `done`. */
  val move = IO(Input(Bool()))
  val flush = IO(Input(Bool()))
  val done = IO(Valid(UInt(Status.width.W)))

  /** The window has changed since it was stored. */
  val changed = IO(Output(Bool()))

  /** A message begins; with `merged`, its object has hasbits already. */
  val enter = IO(Flipped(Valid(Bool())))

  /** Save the state of this message; restore that of the enclosing one. */
  val push = IO(Input(Bool()))
  val pop = IO(Input(Bool()))
  val clear = IO(Input(Bool()))

  val store = IO(Decoupled(new Store(params.port)))
  val readBack = IO(Valid(new ReadBackRequest))
  val readBackResponse = IO(Flipped(Valid(new ReadBackResponse)))

  private val level = Reg(new Level)
  private val state = RegInit(State.idle)
  private val stack = Module(new LevelStack(new Level, params.depth))
  stack.push.valid := push
  stack.push.bits := level
  stack.pop := pop
  stack.clear := clear

  private val window = index(log2Ceil(DescriptorTable.maximumEntries) - 1, log2Ceil(windowBits))
  covered := level.loaded && window === level.window
  changed := level.changed.orR

  private def startOf(window: UInt): UInt = window << log2Ceil(windowBits / 8)
  private val word = PriorityEncoder(level.changed)
  private val words = level.bits.asTypeOf(Vec(windowBits / 32, UInt(32.W)))
  store.valid := state === State.storing && changed
  store.bits := Store.value(params.port, base + startOf(level.window) + (word << 2), words(word), 2.U)

  store.bits.alone := untouched
  private val left = bytes - startOf(window)
  readBack.valid := state === State.reading
  readBack.bits.address := base + startOf(window)
  readBack.bits.bytes := Mux(left > (windowBits / 8).U, (windowBits / 8).U, left)
  readBack.bits.settled := false.B

  done.valid := false.B
  done.bits := Status.ok
  private val moving = Reg(Bool())

  private def load(bits: UInt): Unit = {
    level.window := window
    level.loaded := true.B
    level.bits := bits
    level.touched := level.touched.bitSet(window, true.B)
    state := State.idle
    done.valid := true.B
  }

  when(set.valid) {
    level.bits := level.bits.bitSet(set.bits, true.B)
    level.changed := level.changed.bitSet(set.bits >> 5, true.B)
  }
  when(move || flush) {
    state := State.storing
    moving := move
  }
  when(state === State.storing) {
    val rest = level.changed & ~UIntToOH(word, windowBits / 32)
    when(store.fire) { level.changed := rest }
    when(!changed || (store.fire && !rest.orR)) {
      when(!moving) {
        state := State.idle
        done.valid := true.B
      }.elsewhen(level.touched(window)) {
        state := State.reading
      }.otherwise(load(0.U))
    }
  }
  when(state === State.reading && readBackResponse.valid) {
    load(readBackResponse.bits.data(windowBits - 1, 0))
    when(readBackResponse.bits.fault) { done.bits := Status.accessFault }
  }
  when(enter.valid) {
    level.window := 0.U
    level.bits := 0.U
    level.changed := 0.U
    level.loaded := !enter.bits
    level.touched := Mux(enter.bits, Fill(windows, 1.U(1.W)), 1.U)
  }
  when(stack.popped.valid) { level := stack.popped.bits }
}

/** Constants and state of [[DeserializerHasbits]]. */
object DeserializerHasbits {

  /** Number of hasbits on chip, and width of an index among them. */
  val windowBits: Int = 128
  val bitBits: Int = log2Ceil(windowBits)

  /** Maximum number of windows of a message: one hasbit per entry of a table. */
  val windows: Int = DescriptorTable.maximumEntries / windowBits

  /** The window, the 32-bit words of it that have changed, and the windows that the object has stored hasbits of. */
  class Level extends Bundle {
    val window = UInt(log2Ceil(windows).W)
    val loaded = Bool()
    val bits = UInt(windowBits.W)
    val changed = UInt((windowBits / 32).W)
    val touched = UInt(windows.W)
  }

  object State extends ChiselEnum {
    val idle, storing, reading = Value
  }
}
