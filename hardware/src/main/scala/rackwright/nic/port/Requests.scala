package rackwright.nic.port

import chisel3._

import rackwright.port.Status

/** Which Internet checksum is put into a frame that is sent (RFC 1071). */
class SendChecksumRequest extends Bundle {
  val enable = Bool()

  /** First byte summed; the sum goes on to the end of the frame. */
  val start = UInt(16.W)

  /** Where the two bytes of the checksum go, high byte first. They count with what memory holds, usually zero. */
  val offset = UInt(16.W)

  /** What the sum begins with: that of a pseudo header. */
  val initial = UInt(16.W)
}

/** Which bytes of a received frame are summed. */
class ReceiveChecksumSetting extends Bundle {
  val enable = Bool()

  /** First byte summed; the sum goes on to the end of the frame. */
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

  /** The frame goes on with the next request. */
  val more = Option.when(segments)(Bool())

  /** A header of virtio is before the frame. */
  val header = Option.when(segments)(Bool())
}

/** Where a frame may be received: at most `capacity` bytes. */
class ReceiveRequest extends Bundle {
  val address = UInt(Registers.addressBits.W)
  val capacity = UInt(16.W)
}

/** How a frame ended. */
class Completion extends Bundle {
  val status = UInt(Status.width.W)

  /** Bytes of the frame; when received, also those that did not fit. */
  val length = UInt(16.W)

  /** When received with the sum switched on: the sum, not complemented. */
  val sum = UInt(16.W)
}
