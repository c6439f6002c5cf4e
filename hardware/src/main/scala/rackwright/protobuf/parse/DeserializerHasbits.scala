package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.memory.LevelStack
import rackwright.port.Status
import rackwright.protobuf.table.DescriptorTable

/** The presence bits of the message that is being read: 128 of them are on chip, the others in its object.
  *
  * Bits move between the two in windows of 128. A message is either new, all its bits 0, or was begun before and is
  * merged into; only then, or when a window is come back to, is anything read.
  */
class DeserializerHasbits(params: DeserializerParams) extends Module {
  import DeserializerHasbits._

  /** The object was not made by the unit in this request, so that nothing has been stored where its bits lie. */
  val untouched = IO(Input(Bool()))

  /** Where the bits of the message lie, and how many bytes they take. */
  val base = IO(Input(UInt(DescriptorTable.addressBits.W)))
  val bytes = IO(Input(UInt(16.W)))

  /** A bit, and whether it is on chip. */
  val index = IO(Input(UInt(16.W)))
  val covered = IO(Output(Bool()))

  /** Sets a bit of those on chip. */
  val set = IO(Flipped(Valid(UInt(bitBits.W))))

  /** Brings the bit on chip; stores what is on chip. Each takes until `done`. */
  val move = IO(Input(Bool()))
  val flush = IO(Input(Bool()))
  val done = IO(Valid(UInt(Status.width.W)))

  /** Something is there to be stored. */
  val changed = IO(Output(Bool()))

  /** A message begins; with `merged`, its object has bits already. */
  val enter = IO(Flipped(Valid(Bool())))

  /** Put the state of this message aside; take that of the outer one back. */
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

  /** Bits on chip, and bits of the number of one of them. */
  val windowBits: Int = 128
  val bitBits: Int = log2Ceil(windowBits)

  /** Windows that a message can have: one bit per entry of a table. */
  val windows: Int = DescriptorTable.maximumEntries / windowBits

  /** The bits on chip, which 32-bit words of them were changed, and which windows the object has bits of. */
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
