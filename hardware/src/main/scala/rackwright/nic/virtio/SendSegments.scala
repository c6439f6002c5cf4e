package rackwright.nic.virtio

import chisel3._
import chisel3.util._

import rackwright.nic.port.SendRequest

/** Has the frames sent that chains hold, part by part, behind their headers. */
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

  // A reader of chains has made sure that more than the header is there.
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
