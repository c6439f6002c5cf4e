package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.memory.LevelStack
import rackwright.port.Status
import rackwright.protobuf.table.{DescriptorEntry, DescriptorTable, FieldKind, MapField}

/** The open repeated field: the one of the current message to which elements are appended.
  *
  * A message has one open field at a time; a map is a repeated field of entries. Size, capacity and address are on
  * chip, and are stored when another field is opened or the message ends. A full array doubles in place if it was
  * allocated last; otherwise it moves to four times the capacity. When the field is closed, unused memory is released
  * if the array is still the last one.
  */
class DeserializerRepeated(params: DeserializerParams) extends Module {
  import DeserializerRepeated._

  /** The entry of the field, the message's object, and whether the message may already contain the field. */
  val entry = IO(Input(new DescriptorEntry))
  val base = IO(Input(UInt(DescriptorTable.addressBits.W)))
  val arena = IO(Input(UInt(64.W)))
  val seen = IO(Input(Bool()))

  /** The field is open; it has room for one more element; the address of that element. */
  val matches = IO(Output(Bool()))
  val room = IO(Output(Bool()))
  val element = IO(Output(UInt(DescriptorTable.addressBits.W)))

  /** Appends one element. */
  val append = IO(Input(Bool()))

  /** Opens the field; makes room; closes the open field and stores its state. Each takes until `done`. */
  val open = IO(Input(Bool()))
  val grow = IO(Input(Bool()))
  val close = IO(Input(Bool()))
  val done = IO(Valid(UInt(Status.width.W)))

  /** A field is open; the first element must be stored with the pointer to the arena in front of it. */
  val opened = IO(Output(Bool()))
  val withHeader = IO(Output(Bool()))

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

  private val slot = Reg(new RepeatedSlot)
  private val state = RegInit(State.idle)
  private val task = Reg(Task())
  private val copied = Reg(UInt(32.W))
  private val moving = Reg(UInt(128.W))

  private val stack = Module(new LevelStack(new RepeatedSlot, params.depth))
  stack.push.valid := push
  stack.push.bits := slot
  stack.push.bits.size := slot.size + append
  stack.pop := pop
  stack.clear := clear

  matches := slot.valid && slot.offset === entry.offset
  room := slot.size =/= slot.capacity
  element := slot.next
  opened := slot.valid
  withHeader := slot.size === 0.U && !slot.pointers

  private def isState(which: State.Type): Bool = state === which

  // Size and end of the array in bytes, and whether it was allocated last; the size in beats, and the room in the last
  // beat.
  private val used = RegEnable(slot.bytes, isState(State.adding))
  private val end = RegEnable(slot.array + slot.bytes, isState(State.adding))
  private val filled = RegEnable(slot.next + (params.portBytes - 1).U, isState(State.adding))
  private val trimmed = Cat(filled >> params.port.offsetBits, 0.U(params.port.offsetBits.W))
  private val isLast = RegEnable(end === arraysHead, isState(State.comparing))
  private val isPartly = RegEnable(trimmed < end, isState(State.comparing))
  private val trimmedCapacity = RegEnable(slot.capacityOf(trimmed - slot.array), isState(State.comparing))

  // Memory that a closed array does not need is released.
  private val closer = Module(new RepeatedCloser(params))
  private val trims = isLast && isPartly
  trim.from.valid := closer.inSizes && trims
  trim.from.bits := trimmed
  trim.take := store.ready
  closer.start := isState(State.closing) && RegNext(isState(State.comparing), false.B)
  closer.slot := slot
  closer.capacity := Mux(trims, trimmedCapacity, slot.capacity)
  closer.base := base
  closer.arena := arena

  private val copying = isState(State.copying)
  private val placing = isState(State.placing)
  private val target = Reg(UInt(DescriptorTable.addressBits.W))
  store.valid := closer.store.valid || placing
  store.bits := Mux(placing, Store.line(params.port, target + copied, moving), closer.store.bits)
  closer.store.ready := store.ready

  private val seeking = isState(State.seeking)
  readBack.valid := seeking || isState(State.recalling) || copying
  readBack.bits.address := MuxCase(
    slot.holder,
    Seq(seeking -> (base + slot.offset + MapField.repeated.U), copying -> (slot.array + copied))
  )
  readBack.bits.bytes := Mux(seeking, 8.U, 16.U)
  readBack.bits.settled := Mux(copying, copied =/= 0.U, isState(State.recalling) && slot.isMap)

  private val moved = used << log2Growth
  private val head = Mux(entry.isMap, RepeatedSlot.mapHeadBytes.U, 0.U)
  private val chunk = Mux(FieldKind.isMessage(entry.kind), RepeatedSlot.messagesChunk.U, RepeatedSlot.chunk.U)
  private val wanted = Reg(UInt(array.bytes.getWidth.W))
  private val granted = Reg(Bool())
  array.bytes := wanted
  array.take := isState(State.granting) && granted

  done.valid := false.B
  done.bits := Status.ok
  private def finish(status: UInt = Status.ok): Unit = {
    done.valid := true.B
    done.bits := status
    state := State.idle
  }
  private def ask(bytes: UInt): Unit = {
    wanted := bytes
    state := State.asking
  }

  private val pointers = FieldKind.isStringLike(entry.kind) || FieldKind.isMessage(entry.kind)
  private def identify(): Unit = {
    slot.offset := entry.offset
    slot.holder := base + entry.offset + Mux(pointers, 8.U, 0.U)
    slot.pointers := pointers
    slot.isMap := entry.isMap
    slot.log2Bytes := FieldKind.log2Bytes(entry.kind)
  }

  /** Allocates the first array of a field; for a map, after the RepeatedPtrField. */
  private def allocate(): Unit = {
    identify()
    slot.valid := true.B
    when(entry.isMap) { slot.holder := target + RepeatedSlot.mapHolder.U }
    slot.array := target + head
    slot.size := 0.U
    slot.capacity := (chunk - RepeatedSlot.headerBytes.U) >> FieldKind.log2Bytes(entry.kind)
    finish()
  }

  when(append) { slot.size := slot.size + 1.U }
  when(open || close || grow) {
    task := Mux(open, Task.open, Mux(close, Task.close, Task.grow))
    state := Mux(slot.valid, State.adding, State.closed)
  }
  switch(state) {
    is(State.adding) { state := State.comparing }
    is(State.comparing) { state := Mux(task === Task.grow, State.growing, State.closing) }
    is(State.closing) { when(closer.done) { state := State.closed } }
    is(State.closed) {
      slot.valid := false.B
      when(task === Task.close)(finish()).elsewhen(seen) {
        identify()
        state := Mux(entry.isMap, State.seeking, State.recalling)
      }.otherwise(ask(head + chunk))
    }
    is(State.seeking) {
      when(readBackResponse.valid) {
        val found = readBackResponse.bits
        slot.holder := found.word(0) + 8.U
        when(found.fault)(finish(Status.accessFault)).elsewhen(found.word(0) === 0.U)(ask(head + chunk)).otherwise {
          state := State.recalling
        }
      }
    }
    is(State.recalling) {
      when(readBackResponse.valid) {
        val known = readBackResponse.bits
        slot.size := known.word(0)(30, 0)
        slot.capacity := known.word(0)(62, 32)
        slot.array := known.word(1) - Mux(slot.pointers, 0.U, RepeatedSlot.headerBytes.U)
        when(known.fault)(finish(Status.accessFault)).elsewhen(known.word(0)(62, 32) === 0.U)(ask(head + chunk))
          .otherwise {
            slot.valid := true.B
            finish()
          }
      }
    }
    is(State.growing)(ask(Mux(isLast, used, moved)))
    is(State.asking) {
      granted := array.fits
      target := array.address
      state := State.granting
    }
    is(State.granting) {
      copied := 0.U
      when(!granted)(finish(Status.outputFull)).elsewhen(task === Task.open)(allocate()).elsewhen(isLast) {
        slot.capacity := slot.capacityOf(used << 1)
        finish()
      }.otherwise { state := State.copying }
    }
    is(State.copying) {
      when(readBackResponse.valid) {
        moving := readBackResponse.bits.data(127, 0)
        state := State.placing
        when(readBackResponse.bits.fault)(finish(Status.accessFault))
      }
    }
    is(State.placing) {
      when(store.ready) {
        copied := copied + 16.U
        state := State.copying
        when(copied + 16.U === used) {
          slot.array := target
          slot.capacity := slot.capacityOf(moved)
          finish()
        }
      }
    }
  }
  when(enter) { slot.valid := false.B }
  when(stack.popped.valid) { slot := stack.popped.bits }
}

/** Constants and state of [[DeserializerRepeated]]. */
object DeserializerRepeated {

  /** log2 of the growth of an array that has to move: twice the growth in place, because moving is slow. */
  val log2Growth: Int = 2

  /** The operation in progress. */
  object Task extends ChiselEnum {
    val open, close, grow = Value
  }

  /** `adding` and `comparing` compute how full the array is. `closing` stores the previous field, then it is `closed`.
    * `seeking` reads the address of a map's RepeatedPtrField, `recalling` the state that an object has of a field.
    * `growing` computes the new capacity; `asking` and `granting` allocate an array; `copying` and `placing` move to
    * it.
    */
  object State extends ChiselEnum {
    val idle, adding, comparing, closing, closed, seeking, recalling, growing, asking, granting, copying, placing =
      Value
  }
}
