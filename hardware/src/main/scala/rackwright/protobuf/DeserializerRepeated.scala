package rackwright.protobuf

import chisel3._
import chisel3.util._

import rackwright.contract.Status

/** The repeated field of the current message that elements are being appended to.
  *
  * One field per message is open. Its size and place are on chip, and are stored when another is opened or the message
  * ends. An array doubles in place while nothing was put behind it, else it moves to four times the room. What it has
  * too much is given back when it is closed, if it is still the last.
  */
class DeserializerRepeated(params: DeserializerParams) extends Module {
  import DeserializerRepeated._

  /** The field, its message's object, and whether the message may have had it before. */
  val entry = IO(Input(new DescriptorEntry))
  val base = IO(Input(UInt(DescriptorTable.addressBits.W)))
  val seen = IO(Input(Bool()))

  /** The field is open; there is room for one more element; where that goes. */
  val matches = IO(Output(Bool()))
  val room = IO(Output(Bool()))
  val element = IO(Output(UInt(DescriptorTable.addressBits.W)))

  /** Counts one more element. */
  val append = IO(Input(Bool()))

  /** Opens the field; makes room; stores the state of the one open. Each takes until `done`. */
  val open = IO(Input(Bool()))
  val grow = IO(Input(Bool()))
  val close = IO(Input(Bool()))
  val done = IO(Valid(UInt(Status.width.W)))

  /** A field is open; the first element's store has to write the arena before it; opening takes one cycle. */
  val opened = IO(Output(Bool()))
  val withHeader = IO(Output(Bool()))
  val opensAtOnce = IO(Output(Bool()))

  /** As in [[DeserializerHasbits]]. */
  val enter = IO(Input(Bool()))
  val push = IO(Input(Bool()))
  val pop = IO(Input(Bool()))
  val clear = IO(Input(Bool()))

  val array = IO(new Allocation)
  val trim = IO(new Trim)
  val arraysHead = IO(Input(UInt(DescriptorTable.addressBits.W)))
  val store = IO(Decoupled(new Store(params.port)))
  val readBack = IO(Valid(new ReadBackRequest))
  val readBackResponse = IO(Flipped(Valid(new ReadBackResponse)))

  private val slot = Reg(new Slot)
  private val state = RegInit(State.idle)
  private val opening = Reg(Bool())
  private val target = Reg(UInt(DescriptorTable.addressBits.W))
  private val copied = Reg(UInt(32.W))
  private val moving = Reg(UInt(128.W))

  private val stack = Module(new LevelStack(new Slot, params.depth))
  stack.push.valid := push
  stack.push.bits := slot
  stack.push.bits.size := slot.size + append
  stack.pop := pop
  stack.clear := clear

  private val used = headerBytes.U + (slot.capacity << slot.log2Bytes)
  private val isLast = slot.array + used === arraysHead
  // What is needed of an array, in whole beats.
  private val filled = (headerBytes + params.portBytes - 1).U + (slot.size << slot.log2Bytes)
  private val needed = Cat(filled >> params.port.offsetBits, 0.U(params.port.offsetBits.W))
  private val kept = Mux(isLast && needed < used, needed, used)
  trim.from.valid := state === State.storingSizes && isLast && needed < used
  trim.from.bits := slot.array + needed
  trim.take := store.ready
  matches := slot.valid && slot.offset === entry.offset
  room := slot.size =/= slot.capacity
  element := slot.array + headerBytes.U + (slot.size << slot.log2Bytes)
  opened := slot.valid
  withHeader := slot.size === 0.U && !slot.pointers
  opensAtOnce := !slot.valid && !seen && array.fits

  // {size, capacity, array} is the whole of a RepeatedField, and all but the arena of a RepeatedPtrField.
  private val fields = base + slot.offset + Mux(slot.pointers, 8.U, 0.U)

  private def isState(which: State.Type): Bool = state === which
  private def isStoring: Bool =
    isState(State.storingSizes) || isState(State.storingArray) || isState(State.storingAllocated)
  private def capacityOf(bytes: UInt): UInt = (bytes - headerBytes.U) >> slot.log2Bytes
  private val sizes = Cat(capacityOf(kept).pad(32)(31, 0), 0.U(1.W), slot.size)
  private val place = slot.array + Mux(slot.pointers, 0.U, headerBytes.U)
  private val value = MuxCase(
    slot.size,
    Seq(isState(State.storingSizes) -> sizes, isState(State.storingArray) -> place)
  )
  private val address = MuxCase(
    slot.array,
    Seq(isState(State.storingSizes) -> fields, isState(State.storingArray) -> (fields + 8.U))
  )
  // Sizes and place are 16 bytes: one store where they are aligned so.
  private val together = isState(State.storingSizes) && !fields(3)
  private val copying = isState(State.copying)
  store.valid := isStoring || isState(State.placing)
  store.bits := Mux(
    isState(State.placing) || together,
    Store.line(params.port, Mux(together, fields, target + copied), Mux(together, Cat(place.pad(64), sizes), moving)),
    Store.value(params.port, address, value, Mux(isState(State.storingAllocated), 2.U, 3.U))
  )

  readBack.valid := isState(State.recalling) || copying
  readBack.bits.address := Mux(copying, slot.array + copied, fields)
  readBack.bits.bytes := 16.U
  readBack.bits.settled := copying && copied =/= 0.U

  private val moved = used << log2Growth
  private val growing = isState(State.growing)
  private val allocates = WireDefault(false.B)
  array.bytes := MuxCase(chunk.U, Seq((growing && isLast) -> used, growing -> moved))
  array.take := (allocates || growing) && array.fits

  done.valid := false.B
  done.bits := Status.ok
  private def end(status: UInt = Status.ok): Unit = {
    done.valid := true.B
    done.bits := status
    state := State.idle
  }

  /** A new array for the field. */
  private def allocate(): Unit = {
    val log2Bytes = FieldKind.log2Bytes(entry.kind)
    allocates := true.B
    slot.valid := array.fits
    slot.offset := entry.offset
    slot.pointers := FieldKind.isStringLike(entry.kind) || FieldKind.isMessage(entry.kind)
    slot.log2Bytes := log2Bytes
    slot.array := array.address
    slot.size := 0.U
    slot.capacity := (chunk - headerBytes).U >> log2Bytes
    end(Mux(array.fits, Status.ok, Status.outputFull))
  }

  /** What the object has of the field, or a new array. */
  private def find(): Unit = {
    slot.valid := false.B
    when(seen) {
      slot.offset := entry.offset
      slot.pointers := FieldKind.isStringLike(entry.kind) || FieldKind.isMessage(entry.kind)
      slot.log2Bytes := FieldKind.log2Bytes(entry.kind)
      state := State.recalling
    }.otherwise(allocate())
  }

  /** After the last store of a field that is closed. */
  private def leave(): Unit = {
    slot.valid := false.B
    when(opening)(find()).otherwise(end())
  }

  when(append) { slot.size := slot.size + 1.U }
  when(open || close) {
    opening := open
    state := State.storingSizes
    // What does not end at once is waited for from the next cycle on.
    when(!slot.valid) { when(seen || opensAtOnce)(find()).otherwise { state := State.allocating } }
  }
  when(grow) { state := State.growing }
  switch(state) {
    is(State.storingSizes, State.storingArray) {
      when(store.ready) {
        when(isState(State.storingSizes) && !together) { state := State.storingArray }.elsewhen(slot.pointers) {
          state := State.storingAllocated
        }.otherwise(leave())
      }
    }
    is(State.storingAllocated) { when(store.ready)(leave()) }
    is(State.recalling) {
      when(readBackResponse.valid) {
        val known = readBackResponse.bits
        slot.size := known.word(0)(30, 0)
        slot.capacity := known.word(0)(62, 32)
        slot.array := known.word(1) - Mux(slot.pointers, 0.U, headerBytes.U)
        when(known.fault)(end(Status.accessFault)).elsewhen(known.word(0)(62, 32) === 0.U) {
          state := State.allocating
        }.otherwise {
          slot.valid := true.B
          end()
        }
      }
    }
    is(State.allocating)(allocate())
    is(State.growing) {
      copied := 0.U
      target := array.address
      when(!array.fits)(end(Status.outputFull)).elsewhen(isLast) {
        slot.capacity := capacityOf(used << 1)
        end()
      }.otherwise { state := State.copying }
    }
    is(State.copying) {
      when(readBackResponse.valid) {
        moving := readBackResponse.bits.data(127, 0)
        state := State.placing
        when(readBackResponse.bits.fault)(end(Status.accessFault))
      }
    }
    is(State.placing) {
      when(store.ready) {
        copied := copied + 16.U
        state := State.copying
        when(copied + 16.U === used) {
          slot.array := target
          slot.capacity := capacityOf(moved)
          end()
        }
      }
    }
  }
  when(enter) { slot.valid := false.B }
  when(stack.popped.valid) { slot := stack.popped.bits }
}

/** Constants and state of [[DeserializerRepeated]]. */
object DeserializerRepeated {

  /** Bytes before the elements: the arena of a RepeatedField, the number of allocated elements of a RepeatedPtrField.
    */
  val headerBytes: Int = 8

  /** Bytes of a new array, header included. */
  val chunk: Int = 64

  /** By how much an array grows that has to move: twice as much as in place, because moving is slow. */
  val log2Growth: Int = 2

  /** An open repeated field: `capacity` elements of 2^log2Bytes bytes, of which `size` are there. */
  class Slot extends Bundle {
    val valid = Bool()
    val offset = UInt(32.W)
    val pointers = Bool()
    val log2Bytes = UInt(2.W)
    val array = UInt(DescriptorTable.addressBits.W)
    val size = UInt(31.W)
    val capacity = UInt(31.W)
  }

  object State extends ChiselEnum {
    val idle, storingSizes, storingArray, storingAllocated, recalling, allocating, growing, copying, placing = Value
  }
}
