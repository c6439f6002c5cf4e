package rackwright.nic.virtio

import chisel3._
import chisel3.util._

import rackwright.nic.port.SendRequest

/** Sends the frames in chains, part by part, after their headers. */
class SendSegments extends Module {
  val chain = IO(Flipped(Decoupled(new Chain)))
  val segment = IO(Flipped(Decoupled(new Segment)))

  /** Frames may begin. */
  val run = IO(Input(Bool()))
  val request = IO(Decoupled(new SendRequest(segments = true)))

  /** With each request: its properties when it is complete. */
  val part = IO(Output(new Part))

  /** A frame is in progress here. */
  val busy = IO(Output(Bool()))

  /** No request is accepted or passed on in this cycle. */
  val idle = IO(Output(Bool()))

  private val begun = RegInit(false.B)

  // The reader of chains has checked that they contain more than the header.
  private val ready = chain.valid && segment.valid && (begun || run)
  request.valid := ready
  request.bits := 0.U.asTypeOf(request.bits)
  request.bits.address := segment.bits.address
  request.bits.length := segment.bits.length
  request.bits.more.foreach(_ := !segment.bits.last)
  request.bits.header.foreach(_ := true.B)
  segment.ready := ready && request.ready
  chain.ready := segment.fire && segment.bits.last
  part.virtio := true.B
  part.last := segment.bits.last
  part.used.head := chain.bits.head
  part.used.length := 0.U
  part.used.more := false.B

  when(segment.fire) { begun := !segment.bits.last }
  busy := begun
  idle := !segment.fire
}
