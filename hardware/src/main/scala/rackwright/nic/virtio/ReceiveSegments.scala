package rackwright.nic.virtio

import chisel3._
import chisel3.util._

import rackwright.nic.{Flit, Frame, ReceiveRequest, Summed}

/** Puts the header of virtio before received frames, and cuts them into the segments of chains.
  *
  * A frame goes to the registers' requests when one waits as the frame begins, else to a chain. One that no chain of
  * the driver has room for is dropped.
  */
class ReceiveSegments extends Module {
  import ReceiveSegments._

  /** Whole frames. */
  val in = IO(Flipped(Decoupled(new Summed(new Flit))))

  /** The lengths of the same frames. */
  val length = IO(Flipped(Decoupled(UInt(Frame.lengthBits.W))))
  val registers = IO(Flipped(Decoupled(new ReceiveRequest)))
  val chain = IO(Flipped(Decoupled(new Chain)))
  val segment = IO(Flipped(Decoupled(new Segment)))

  /** Chains may be filled. */
  val run = IO(Input(Bool()))
  val out = IO(Decoupled(new Summed(new Flit)))

  /** Where the part goes whose flits come out; taken with its last one. */
  val request = IO(Decoupled(new ReceiveRequest))

  /** With each request: what is known of it when it is complete. */
  val part = IO(Decoupled(new Part))

  /** A frame has been dropped in this cycle. */
  val dropped = IO(Output(Bool()))

  /** A frame is under way here to a chain. */
  val busy = IO(Output(Bool()))

  /** Nothing is taken or handed on in this cycle. */
  val idle = IO(Output(Bool()))

  private val state = RegInit(State.choose)
  private val taken = RegInit(0.U(Frame.countBits.W))
  private val filled = RegInit(0.U(16.W))
  private val whole = length.bits +& Virtio.headerBytes.U

  // The header, in a flit and a half, and the frame behind it.
  private val header = state === State.headerStart || state === State.headerEnd
  private val source = Wire(new Flit)
  source := in.bits.along
  when(state === State.headerStart) {
    source.data := 0.U
    source.count := Frame.flitBytes.U
    source.last := false.B
  }.elsewhen(state === State.headerEnd) {
    source.data := (1 << numberOfBuffersBit).U
    source.count := (Virtio.headerBytes - Frame.flitBytes).U
    source.last := false.B
  }

  // As much of the flit as is left of it and finds room in the segment.
  private val left = source.count - taken
  private val room = segment.bits.length - filled
  private val fits = left <= room
  private val count = Mux(fits, left, room(Frame.countBits - 1, 0))
  private val fillsSegment = room === count
  private val endsFrame = source.last && fits
  private val ends = fillsSegment || endsFrame
  private val cutting = header || state === State.cut
  private val passing = state === State.pass
  private val begins = passing || (cutting && segment.valid && chain.valid)
  private val lastFlit = Mux(passing, in.bits.along.last, ends)

  out.valid := begins && (header || in.valid) && (part.ready || !lastFlit)
  out.bits := in.bits
  when(cutting) {
    out.bits.along.data := (source.data >> Cat(taken(2, 0), 0.U(3.W))) & FillInterleaved(8, Flit.firstBytes(count))
    out.bits.along.count := count
    out.bits.along.last := ends
  }
  request.valid := Mux(passing, registers.valid, begins)
  request.bits := registers.bits
  when(cutting) {
    request.bits.address := segment.bits.address
    request.bits.capacity := segment.bits.length
  }
  part.valid := out.fire && lastFlit
  part.bits.virtio := cutting
  part.bits.last := endsFrame
  part.bits.used.head := chain.bits.head
  part.bits.used.length := whole

  private val finished = out.fire && Mux(passing, in.bits.along.last, endsFrame)
  private val droppedNow = state === State.drop && in.fire && in.bits.along.last
  in.ready := (passing && out.fire) || (state === State.cut && out.fire && fits) || state === State.drop
  registers.ready := passing && request.fire
  segment.ready := (cutting && out.fire && ends) || state === State.skip
  chain.ready := segment.fire && segment.bits.last
  length.ready := finished || droppedNow
  dropped := droppedNow

  when(out.fire && cutting) {
    taken := Mux(fits, 0.U, taken + count)
    filled := Mux(ends, 0.U, filled + count)
    when(fits && state === State.headerStart) { state := State.headerEnd }
    when(fits && state === State.headerEnd) { state := State.cut }
    when(endsFrame) { state := Mux(segment.bits.last, State.choose, State.skip) }
  }
  private val chosen = state === State.choose && length.valid && (registers.valid || (run && chain.valid))
  when(chosen) {
    val small = whole > chain.bits.total
    state := Mux(registers.valid, State.pass, Mux(small, State.drop, State.headerStart))
  }
  when(passing && finished || droppedNow) { state := State.choose }
  when(state === State.skip && segment.fire && segment.bits.last) { state := State.choose }

  busy := cutting || state === State.skip || state === State.drop
  idle := !out.fire && !in.fire && !segment.fire && !chosen
}

/** What [[ReceiveSegments]] do. */
object ReceiveSegments {

  /** Where `num_buffers` begins within the second flit of a header (virtio 1.2, section 5.1.6). */
  private val numberOfBuffersBit = 16

  private object State extends ChiselEnum {
    val choose, pass, headerStart, headerEnd, cut, skip, drop = Value
  }
}
