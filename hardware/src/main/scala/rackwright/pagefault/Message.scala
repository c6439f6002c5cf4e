package rackwright.pagefault

import chisel3._

/** The protocol of memory blades (software/remote-memory/PROTOCOL.md), in flits of 16 bytes.
  *
  * The header ends in the middle of a flit, so that a page is not aligned to flits: the last one has its last 8 bytes
  * and the checksum.
  */
object Message {

  /** Whole flits of the header. */
  val headerFlits: Int = 2

  /** Number of the last flit of a message with a page, and of one without. */
  val lastOfPage: Int = headerFlits + Sizes.pageBeats
  val lastWithoutPage: Int = headerFlits + 1
  val fetch: Int = 0x01
  val store: Int = 0x02
  val fetched: Int = 0x81
  val stored: Int = 0x82
  val done: Int = 0

  /** EtherType and version of the protocol, as in bytes 12 to 14 of a frame. */
  val mark: Int = 0x01b588

  /** Of a tag: the unit's own queue pair, not the NIC's. */
  val tagBits: Int = 32
  val sequenceBits: Int = 16
}

/** A request to be sent. */
class Outgoing(slots: Int) extends Bundle {
  val store = Bool()
  val slot = UInt(chisel3.util.log2Ceil(slots).W)
  val sequence = UInt(Message.sequenceBits.W)

  /** The remote entry: blade, page, version. */
  val entry = UInt(64.W)

  /** The frame of the page to store. */
  val frame = UInt(Sizes.frameBits.W)
}

/** The header of a response. */
class Incoming extends Bundle {
  val store = Bool()
  val slot = UInt(4.W)
  val sequence = UInt(Message.sequenceBits.W)
  val page = UInt(Entry.pageNumberBits.W)
  val done = Bool()
}
