package rackwright.protobuf

import chisel3._
import chisel3.util._

import rackwright.contract.Status

/** The repeated field of the current message that elements are being appended to.
  *
  * One field per message is open; a map is one of messages, its entries. Its size and place are on chip, and are stored
  * when another is opened or the message ends. An array doubles in place while nothing was put behind it, else it moves
  * to four times the room. What it has too much is given back when it is closed, if it is still the last.
  */
class DeserializerRepeated(params: DeserializerParams) extends Module {
  import DeserializerRepeated._

  /** The field, its message's object, and whether the message may have had it before. */
  val entry = IO(Input(new DescriptorEntry))
  val base = IO(Input(UInt(DescriptorTable.addressBits.W)))
  val arena = IO(Input(UInt(64.W)))
  val seen = IO(Input(Bool()))

  /** The field is open; there is room for one more element, or for two; where the next one goes. */
  val matches = IO(Output(Bool()))
  val room = IO(Output(Bool()))
  val roomForTwo = IO(Output(Bool()))
  val element = IO(Output(UInt(DescriptorTable.addressBits.W)))

  /** Counts one more element; not one but two. */
  val append = IO(Input(Bool()))
  val appendTwo = IO(Input(Bool()))

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

  private val slot = Reg(new RepeatedSlot)
  private val state = RegInit(State.idle)
  private val opening = Reg(Bool())
  private val target = Reg(UInt(DescriptorTable.addressBits.W))
  private val copied = Reg(UInt(32.W))
  private val moving = Reg(UInt(128.W))

  private val stack = Module(new LevelStack(new RepeatedSlot, params.depth))
  stack.push.valid := push
  stack.push.bits := slot
  stack.push.bits.size := slot.size + append
  stack.pop := pop
  stack.clear := clear

  private val used = slot.bytes
  private val isLast = slot.array + used === arraysHead
  matches := slot.valid && slot.offset === entry.offset
  room := slot.size =/= slot.capacity
  roomForTwo := room && slot.size + 1.U =/= slot.capacity
  element := slot.next
  opened := slot.valid
  withHeader := slot.size === 0.U && !slot.pointers

  // When it is closed, what is not needed of an array, in whole beats, is given back.
  private val closer = Module(new RepeatedCloser(params))
  private val ends = !slot.valid || closer.done
  private val filled = slot.next + (params.portBytes - 1).U
  private val trimmed = Cat(filled >> params.port.offsetBits, 0.U(params.port.offsetBits.W))
  private val trims = isLast && trimmed < slot.array + used
  trim.from.valid := closer.inSizes && trims
  trim.from.bits := trimmed
  trim.take := store.ready
  // An element that is taken in the cycle of `close` counts.
  closer.start := slot.valid && (open || RegNext(close, false.B))
  closer.slot := slot
  closer.capacity := Mux(trims, slot.capacityOf(trimmed - slot.array), slot.capacity)
  closer.base := base
  closer.arena := arena
  opensAtOnce := ends && !seen && array.fits

  private def isState(which: State.Type): Bool = state === which
  private val copying = isState(State.copying)
  private val placing = isState(State.placing)
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
  private val growing = isState(State.growing)
  private val allocates = WireDefault(false.B)
  private val head = Mux(entry.isMap, RepeatedSlot.mapHeadBytes.U, 0.U)
  private val chunk = Mux(FieldKind.isMessage(entry.kind), RepeatedSlot.messagesChunk.U, RepeatedSlot.chunk.U)
  array.bytes := MuxCase(head + chunk, Seq((growing && isLast) -> used, growing -> moved))
  array.take := (allocates || growing) && array.fits

  done.valid := false.B
  done.bits := Status.ok
  private def end(status: UInt = Status.ok): Unit = {
    done.valid := true.B
    done.bits := status
    state := State.idle
  }

  private val pointers = FieldKind.isStringLike(entry.kind) || FieldKind.isMessage(entry.kind)
  private def identify(): Unit = {
    slot.offset := entry.offset
    slot.holder := base + entry.offset + Mux(pointers, 8.U, 0.U)
    slot.pointers := pointers
    slot.isMap := entry.isMap
    slot.log2Bytes := FieldKind.log2Bytes(entry.kind)
  }

  /** A new array for the field; for a map, behind its RepeatedPtrField. */
  private def allocate(): Unit = {
    allocates := true.B
    identify()
    slot.valid := array.fits
    when(entry.isMap) { slot.holder := array.address + RepeatedSlot.mapHolder.U }
    slot.array := array.address + head
    slot.size := 0.U
    slot.capacity := (chunk - RepeatedSlot.headerBytes.U) >> FieldKind.log2Bytes(entry.kind)
    end(Mux(array.fits, Status.ok, Status.outputFull))
  }

  /** What the object has of the field, or a new array. */
  private def find(): Unit =
    when(seen) {
      identify()
      state := Mux(entry.isMap, State.seeking, State.recalling)
    }.otherwise(allocate())

  when(append) { slot.size := slot.size + Mux(appendTwo, 2.U, 1.U) }
  when(open || close) {
    opening := open
    state := State.closing
  }
  when(ends && (open || isState(State.closing))) {
    slot.valid := false.B
    // What does not end in the cycle of `open` is waited for from the next one on.
    when(open && !seen && !array.fits) { state := State.allocating }
      .elsewhen(open || opening)(find())
      .otherwise(end())
  }
  when(grow) { state := State.growing }
  switch(state) {
    is(State.seeking) {
      when(readBackResponse.valid) {
        val found = readBackResponse.bits
        slot.holder := found.word(0) + 8.U
        state := Mux(found.word(0) === 0.U, State.allocating, State.recalling)
        when(found.fault)(end(Status.accessFault))
      }
    }
    is(State.recalling) {
      when(readBackResponse.valid) {
        val known = readBackResponse.bits
        slot.size := known.word(0)(30, 0)
        slot.capacity := known.word(0)(62, 32)
        slot.array := known.word(1) - Mux(slot.pointers, 0.U, RepeatedSlot.headerBytes.U)
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
        slot.capacity := slot.capacityOf(used << 1)
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
          slot.capacity := slot.capacityOf(moved)
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

  /** By how much an array grows that has to move: twice as much as in place, because moving is slow. */
  val log2Growth: Int = 2

  /** `closing` stores the field that was open. `seeking` reads where a map's RepeatedPtrField is, `recalling` what an
    * object has of a field; `allocating` takes an array. `growing` finds more room, `copying` and `placing` move to it.
    */
  object State extends ChiselEnum {
    val idle, closing, seeking, recalling, allocating, growing, copying, placing = Value
  }
}
