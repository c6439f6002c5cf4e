package rackwright.nic.virtio

import chisel3._
import chisel3.util._

import rackwright.nic.SendRequest

/** Has the frames sent that chains hold, part by part, without their headers. */
class SendSegments extends Module {
  val chain = IO(Flipped(Decoupled(new Chain)))
  val segment = IO(Flipped(Decoupled(new Segment)))

  /** Frames may begin. */
  val run = IO(Input(Bool()))
  val request = IO(Decoupled(new SendRequest(segments = true)))

  /** With each request: what is known of it when it is complete. */
  val part = IO(Output(new Part))

  /** A frame is under way here. */
  val busy = IO(Output(Bool()))

  /** Nothing is taken or handed on in this cycle. */
  val idle = IO(Output(Bool()))

  private val begun = RegInit(false.B)
  private val skip = RegInit(Virtio.headerBytes.U(4.W))

  // A reader of chains has made sure that more than the header is there, so that the last part has bytes of the frame.
  private val ready = chain.valid && segment.valid && (begun || run)
  private val isHeader = segment.bits.length <= skip
  request.valid := ready && !isHeader
  request.bits := 0.U.asTypeOf(request.bits)
  request.bits.address := segment.bits.address + skip
  request.bits.length := segment.bits.length - skip
  request.bits.more.foreach(_ := !segment.bits.last)
  segment.ready := ready && (isHeader || request.ready)
  chain.ready := segment.fire && segment.bits.last
  part.virtio := true.B
  part.last := segment.bits.last
  part.used.head := chain.bits.head
  part.used.length := 0.U

  when(segment.fire) {
    begun := !segment.bits.last
    skip := Mux(segment.bits.last, Virtio.headerBytes.U, Mux(isHeader, skip - segment.bits.length, 0.U))
  }
  busy := begun
  idle := !segment.fire
}
