package rackwright.nic.port

import chisel3._

import rackwright.port.Status

/** The Internet checksum inserted into a sent frame (RFC 1071). */
class SendChecksumRequest extends Bundle {
  val enable = Bool()

  /** First byte summed; the sum extends to the end of the frame. */
  val start = UInt(16.W)

  /** The position of the two bytes of the checksum, high byte first. They are summed with their values in memory,
    * usually zero.
    */
  val offset = UInt(16.W)

  /** The initial value of the sum: that of a pseudo header. */
  val initial = UInt(16.W)
}

/** Which bytes of a received frame are summed. */
class ReceiveChecksumSetting extends Bundle {
  val enable = Bool()

  /** First byte summed; the sum extends to the end of the frame. */
  val start = UInt(16.W)
}

/** A frame to send, or a part of one.
  *
  * @param segments
  *   whether frames may have several parts.
  */
class SendRequest(segments: Boolean = false) extends Bundle {
  val address = UInt(Registers.addressBits.W)
  val length = UInt(16.W)
  val checksum = new SendChecksumRequest

  /** The frame continues in the next request. */
  val more = Option.when(segments)(Bool())

  /** A header of virtio is before the frame. */
  val header = Option.when(segments)(Bool())
}

/** A buffer for a received frame: at most `capacity` bytes. */
class ReceiveRequest extends Bundle {
  val address = UInt(Registers.addressBits.W)
  val capacity = UInt(16.W)
}

/** The result of a frame. */
class Completion extends Bundle {
  val status = UInt(Status.width.W)

  /** Bytes of the frame; for a received one, including those that did not fit. */
  val length = UInt(16.W)

  /** When received with the sum switched on: the sum, not complemented. */
  val sum = UInt(16.W)
}
