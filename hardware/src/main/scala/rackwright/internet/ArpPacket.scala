package rackwright.internet

import chisel3._

/** Two stations, one of which is requested or announced (RFC 826). */
class ArpMessage extends Bundle {
  val isReply = Bool()

  /** The destination of the frame. */
  val mac = UInt(48.W)

  /** Our address in it. */
  val own = UInt(32.W)

  /** Whose protocol address is in the field of the target. */
  val address = UInt(32.W)
}

/** A pair of addresses announced by a station. */
class ArpPair extends Bundle {
  val mac = UInt(48.W)
  val address = UInt(32.W)

  /** It was addressed to us: it is stored even if it is new. */
  val isNew = Bool()
}

/** Constants of ARP for Ethernet and IPv4. */
object ArpPacket {

  /** Hardware Ethernet, protocol IPv4, lengths of both addresses. */
  val start: BigInt = BigInt("000108000604", 16)
  val request: Int = 1
  val reply: Int = 2

  /** Bytes of a packet. */
  val bytes: Int = 28
}
