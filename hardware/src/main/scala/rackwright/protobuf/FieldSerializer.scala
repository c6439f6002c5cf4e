package rackwright.protobuf

import chisel3._
import chisel3.util._

import rackwright.contract.Status
import rackwright.memory.{MemoryPort, MemoryPortParams, ReservationBuffer}

/** Reads one string or array at a time, from its end to its start, and hands it on in pieces: a beat of bytes, or two
  * elements of one where a beat has room for both, per cycle, then tag and length where there are any: with the last
  * bytes of a string if a beat has room for them.
  *
  * @param port
  *   shape of the memory port; its tags are the beats that are read ahead.
  */
class FieldSerializer(port: MemoryPortParams) extends Module {
  import FieldSerializer.State
  private val slots = port.outstanding
  private val offsetBits = port.offsetBits
  private val addressBits = DescriptorTable.addressBits
  private val numberBits = addressBits - offsetBits

  /** What to write; taken when the one before is over. */
  val source = IO(Flipped(Decoupled(new FieldSource)))

  /** Its pieces. */
  val piece = IO(Decoupled(new FieldPiece(port.bytes)))

  /** The bytes are not wanted any more: end soon, with whatever piece. */
  val cancel = IO(Input(Bool()))

  /** Reads only. */
  val memory = IO(new MemoryPort(port))

  private val state = RegInit(State.idle)
  private val at = Reg(new FieldTask)
  private val local = Reg(UInt(128.W))
  private val fixedBytes = MuxLookup(FieldKind.log2Bytes(at.kind), 8.U(4.W))(Seq(0.U -> 1.U, 2.U -> 4.U))
  private val asIs = at.isString || (at.packed && (!FieldKind.isVarint(at.kind) || FieldKind.isBool(at.kind)))

  // Beats to read, downward, and the range they hold.
  private val low = Reg(UInt(addressBits.W))
  private val high = Reg(UInt(addressBits.W))
  private val next = Reg(UInt(numberBits.W))
  private val left = RegInit(0.U((numberBits + 1).W))
  private val status = Reg(UInt(Status.width.W))

  private val buffer = Module(new ReservationBuffer(port, slots))
  buffer.clear := source.fire
  buffer.response <> memory.response
  memory.request.valid := left =/= 0.U && buffer.reserve.valid
  buffer.reserve.ready := left =/= 0.U && memory.request.ready
  memory.request.bits.read(next << offsetBits, buffer.reserve.bits)
  when(memory.request.fire) {
    next := next - 1.U
    left := left - 1.U
  }

  /** Has the beats from that of `first` down to that of `last` read. */
  private def read(first: UInt, last: UInt): Unit = {
    next := first >> offsetBits
    left := (first >> offsetBits) -& (last >> offsetBits) + 1.U
  }

  private val beat = buffer.beat
  private val words = beat.bits.data.asTypeOf(Vec(port.bytes / 8, UInt(64.W)))
  private def wordAt(lane: UInt): UInt = words(lane(offsetBits - 1, 3))
  private def fail(why: UInt): Unit = {
    status := why
    left := 0.U
    state := State.failed
  }

  // The bytes of the beat at hand that belong to the range, and the element at their end.
  private val lastBeat = (high - 1.U) >> offsetBits === low >> offsetBits
  private val floor = Mux(lastBeat, low(offsetBits - 1, 0), 0.U)
  private val ceiling = Cat(high(offsetBits - 1, 0) === 0.U, high(offsetBits - 1, 0))
  private val last = (ceiling - fixedBytes)(offsetBits - 1, 0)
  private val hasTwo = FieldPiece.mayHoldTwo(port.bytes).B && !asIs && last =/= floor
  private val element = Mux(hasTwo, last - fixedBytes, last)
  private val step = Mux(asIs, ceiling - floor, Mux(hasTwo, fixedBytes << 1, fixedBytes))
  private val streams = state === State.stream && beat.valid && !beat.bits.fault
  private val leavesBeat = asIs || element === floor
  private def numberAt(lane: UInt): WireNumber = WireNumber.fromMemory(at.kind, wordAt(lane), lane(2, 0))
  private val ends = leavesBeat && lastBeat
  private val hasPrefix = at.isString || at.packed

  private val isLocal = state === State.local
  piece.valid := streams || isLocal || state === State.prefix || (state === State.failed && buffer.quiet)
  piece.bits.kind := Mux(asIs, PieceKind.bytes, Mux(at.packed, PieceKind.bare, PieceKind.tagged))
  piece.bits.data := beat.bits.data
  piece.bits.offset := floor
  piece.bits.count := step
  piece.bits.number := numberAt(last)
  piece.bits.tag := at.tag
  piece.bits.before.valid := streams && hasTwo
  piece.bits.before.bits.number := numberAt(element)
  piece.bits.before.bits.tag := at.tag
  piece.bits.prefixed := at.isString && (isLocal || ends) && FieldPiece.mayBePrefixed(port.bytes, piece.bits.count)
  piece.bits.last := (ends && !hasPrefix) || piece.bits.prefixed
  piece.bits.status := Status.ok
  when(isLocal) {
    piece.bits.data := local
    piece.bits.offset := 0.U
    piece.bits.count := at.count(3, 0)
  }
  when(state === State.prefix) {
    piece.bits.kind := Mux(at.skipEmpty, PieceKind.nothing, PieceKind.prefix)
    piece.bits.last := true.B
  }
  when(state === State.failed) {
    piece.bits.kind := PieceKind.nothing
    piece.bits.last := true.B
    piece.bits.status := status
  }

  beat.ready := streams && piece.ready && leavesBeat
  source.ready := state === State.idle && buffer.quiet

  switch(state) {
    is(State.idle) {
      when(source.fire) {
        val task = source.bits.task
        val bytes = Mux(task.isString, task.count, task.count << FieldKind.log2Bytes(task.kind))
        val end = task.address +& bytes
        at := task
        local := source.bits.local.bits
        low := task.address
        high := end(addressBits - 1, 0)
        when(source.bits.status =/= Status.ok) { fail(source.bits.status) }
          .elsewhen((end >> addressBits).orR) { fail(Status.accessFault) }
          .elsewhen(task.isString && bytes === 0.U) { state := State.prefix }
          .elsewhen(source.bits.local.valid) { state := State.local }
          .otherwise {
            read(end(addressBits - 1, 0) - 1.U, task.address)
            state := State.stream
          }
      }
    }
    is(State.local) {
      when(piece.fire) {
        at.skipEmpty := false.B
        state := Mux(piece.bits.prefixed, State.idle, State.prefix)
      }
    }
    is(State.stream) {
      when(beat.valid && beat.bits.fault) { fail(Status.accessFault) }
      when(piece.fire) {
        high := high - step
        when(ends) { state := Mux(hasPrefix && !piece.bits.prefixed, State.prefix, State.idle) }
        at.skipEmpty := false.B
      }
    }
    is(State.prefix, State.failed) {
      when(piece.fire) { state := State.idle }
    }
  }
  private val over = piece.fire && piece.bits.last
  when(cancel && state =/= State.idle && state =/= State.failed && !over) { fail(Status.ok) }
}

/** The states of a [[FieldSerializer]]. */
object FieldSerializer {

  /** `local` writes a short string; `stream` writes what is read; `failed` waits for what was asked. */
  object State extends ChiselEnum {
    val idle, local, stream, prefix, failed = Value
  }
}
