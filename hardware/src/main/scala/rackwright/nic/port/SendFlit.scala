package rackwright.nic.port

import chisel3._

import rackwright.network.{Flit, Frame}

/** A flit of a frame that may need a checksum.
  *
  * @param segments
  *   whether a header of virtio may be before it.
  * @param flitBytes
  *   bytes of a flit.
  */
class SendFlit(segments: Boolean = false, flitBytes: Int = Frame.flitBytes) extends Bundle {
  val flit = new Flit(flitBytes)
  val checksum = new SendChecksumRequest

  /** The frame has one. */
  val header = Option.when(segments)(Bool())
}
