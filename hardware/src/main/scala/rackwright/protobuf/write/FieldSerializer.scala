package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.access.ReorderBuffer
import rackwright.port.{MemoryPort, MemoryPortParams, Status}
import rackwright.protobuf.table.DescriptorTable

/** Reads one string or array at a time, from its end to its start, and outputs it in pieces: a beat of bytes per cycle,
  * or two elements if these fit into a beat, then tag and length of length-delimited fields, together with the last
  * bytes of a string if they fit into the beat.
  *
  * @param port
  *   parameters of the memory port; one tag for each prefetched beat.
  */
class FieldSerializer(port: MemoryPortParams) extends Module {
  import FieldSerializer.State
  private val offsetBits = port.offsetBits
  private val addressBits = DescriptorTable.addressBits
  private val numberBits = addressBits - offsetBits

  /** A field to write; accepted when the previous one has ended and its pieces have left. */
  val source = IO(Flipped(Decoupled(new FieldSource)))

  /** Its pieces. */
  val piece = IO(Decoupled(new LoadedPiece(port.bytes)))

  /** The request whose output is abandoned: its field ends soon, with arbitrary pieces. */
  val givenUp = IO(Flipped(Valid(UInt(SerializerEncoder.requestBits.W))))

  /** Reads only. */
  val memory = IO(new MemoryPort(port))

  private val state = RegInit(State.idle)
  private val at = Reg(new FieldTask)
  private val local = Reg(Valid(UInt(128.W)))
  private val status = Reg(UInt(Status.width.W))
  private val bytes = Reg(UInt(FieldSource.bytesBits.W))
  private val end = Reg(UInt((addressBits + 1).W))
  private val fixedBytes = Reg(UInt(4.W))
  private val asIs = Reg(Bool())
  private val hasPrefix = at.isString || at.packed

  // Beats to read, in descending order, and to output.
  private val next = Reg(UInt(numberBits.W))
  private val left = RegInit(0.U(FieldSource.countBits.W))
  private val beatsLeft = Reg(UInt(FieldSource.countBits.W))

  private val buffer = Module(new ReorderBuffer(port, port.outstanding))
  buffer.clear := source.fire
  buffer.response <> memory.response
  memory.request.valid := left =/= 0.U && buffer.reserve.valid
  buffer.reserve.ready := left =/= 0.U && memory.request.ready
  memory.request.bits.read(next << offsetBits, buffer.reserve.bits)
  when(memory.request.fire) {
    next := next - 1.U
    left := left - 1.U
  }

  private val beat = buffer.beat
  private def fail(why: UInt): Unit = {
    status := why
    left := 0.U
    state := State.failed
  }

  // The bytes of the current beat that belong to the range, up to `ceiling`, and the element at their end.
  private val ceiling = Reg(UInt((offsetBits + 1).W))
  private val lastBeat = RegInit(false.B)
  private val floor = Mux(lastBeat, at.address(offsetBits - 1, 0), 0.U)
  private val last = (ceiling - fixedBytes)(offsetBits - 1, 0)
  private val hasTwo = FieldPiece.mayHoldTwo(port.bytes).B && !asIs && last =/= floor
  private val element = Mux(hasTwo, last - fixedBytes, last)
  private val step = Mux(asIs, ceiling - floor, Mux(hasTwo, fixedBytes << 1, fixedBytes))
  private val streams = state === State.stream && beat.valid && !beat.bits.fault
  private val leavesBeat = asIs || element === floor
  private val ends = leavesBeat && lastBeat

  private val isLocal = state === State.local
  private val made = Wire(Decoupled(new LoadedPiece(port.bytes)))
  made.valid := streams || isLocal || state === State.prefix || (state === State.failed && buffer.quiet)
  made.bits.kind := Mux(asIs, PieceKind.bytes, Mux(at.packed, PieceKind.bare, PieceKind.tagged))
  made.bits.data := beat.bits.data
  made.bits.offset := floor
  made.bits.count := step
  made.bits.numberKind := at.kind
  made.bits.lane := last
  made.bits.before.valid := streams && hasTwo
  made.bits.before.bits := element
  made.bits.tag := at.tag
  made.bits.continues := at.continues
  made.bits.prefixed := at.isString && (isLocal || ends) && FieldPiece.mayBePrefixed(port.bytes, made.bits.count)
  made.bits.last := (ends && !hasPrefix) || made.bits.prefixed
  made.bits.status := Status.ok
  when(isLocal) {
    made.bits.data := local.bits
    made.bits.offset := 0.U
    made.bits.count := at.count(3, 0)
  }
  when(state === State.prefix) {
    made.bits.kind := Mux(at.skipEmpty, PieceKind.nothing, PieceKind.prefix)
    made.bits.last := true.B
  }
  when(state === State.failed) {
    made.bits.kind := PieceKind.nothing
    made.bits.last := true.B
    made.bits.status := status
  }
  private val waiting = Module(new Queue(new LoadedPiece(port.bytes), 2))
  waiting.io.enq <> made
  piece <> waiting.io.deq

  beat.ready := streams && made.ready && leavesBeat
  source.ready := state === State.idle && buffer.quiet && !waiting.io.deq.valid

  switch(state) {
    is(State.idle) {
      when(source.fire) {
        at := source.bits.task
        local := source.bits.local
        status := source.bits.status
        bytes := source.bits.bytes
        fixedBytes := source.bits.elementBytes
        asIs := source.bits.asIs
        state := State.measure
      }
    }
    is(State.measure) {
      end := at.address +& bytes
      val rounded = at.address(offsetBits - 1, 0) +& (port.bytes - 1).U
      beatsLeft := (rounded +& bytes) >> offsetBits
      state := State.begin
    }
    is(State.begin) {
      val top = end(offsetBits - 1, 0)
      ceiling := Cat(top === 0.U, top)
      next := (end - 1.U) >> offsetBits
      lastBeat := beatsLeft === 1.U
      when(status =/= Status.ok) { state := State.failed }
        .elsewhen(end(addressBits)) { fail(Status.accessFault) }
        .elsewhen(at.isString && bytes === 0.U) { state := State.prefix }
        .elsewhen(local.valid) { state := State.local }
        .otherwise {
          left := beatsLeft
          state := State.stream
        }
    }
    is(State.local) {
      when(made.fire) {
        at.skipEmpty := false.B
        state := Mux(made.bits.prefixed, State.idle, State.prefix)
      }
    }
    is(State.stream) {
      when(beat.valid && beat.bits.fault) { fail(Status.accessFault) }
      when(made.fire) {
        ceiling := ceiling - step
        when(leavesBeat) {
          ceiling := port.bytes.U
          beatsLeft := beatsLeft - 1.U
          lastBeat := beatsLeft === 2.U
        }
        when(ends) { state := Mux(hasPrefix && !made.bits.prefixed, State.prefix, State.idle) }
        at.skipEmpty := false.B
      }
    }
    is(State.prefix, State.failed) {
      when(made.fire) { state := State.idle }
    }
  }
  private val over = made.fire && made.bits.last
  private val cancel = givenUp.valid && givenUp.bits === at.request
  when(cancel && state =/= State.idle && state =/= State.failed && !over) { fail(Status.ok) }
}

/** The states of a [[FieldSerializer]]. */
object FieldSerializer {

  /** `measure` and `begin` compute the beats; `local` outputs a short string; `stream` outputs beats from memory;
    * `failed` waits for outstanding reads.
    */
  object State extends ChiselEnum {
    val idle, measure, begin, local, stream, prefix, failed = Value
  }
}
