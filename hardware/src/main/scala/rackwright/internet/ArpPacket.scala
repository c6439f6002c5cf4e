package rackwright.internet

import chisel3._

/** Two stations of which one is asked or told about (RFC 826). */
class ArpMessage extends Bundle {
  val isReply = Bool()

  /** Whom the frame goes to. */
  val mac = UInt(48.W)

  /** Whose protocol address is in the field of the target. */
  val address = UInt(32.W)
}

/** A pair of addresses that somebody has told. */
class ArpPair extends Bundle {
  val mac = UInt(48.W)
  val address = UInt(32.W)

  /** It was told to us: it is kept even if it is new. */
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
