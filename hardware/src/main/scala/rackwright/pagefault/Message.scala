package rackwright.pagefault

import chisel3._

import rackwright.nic.Frame

/** The protocol of memory blades (software/remote-memory/PROTOCOL.md), in flits. */
object Message {
  val headerFlits: Int = 5
  val pageFlits: Int = 4096 / Frame.flitBytes
  val paddingFlits: Int = 2
  val fetch: Int = 0x01
  val store: Int = 0x02
  val fetched: Int = 0x81
  val stored: Int = 0x82
  val done: Int = 0

  /** EtherType and version of the protocol, as they lie in bytes 12 to 14 of a frame. */
  val mark: Int = 0x01b588

  /** Of a tag: the unit's own queue pair, not the NIC's. */
  val tagBits: Int = 32
  val sequenceBits: Int = 16
}

/** A request that is to leave. */
class Outgoing(slots: Int) extends Bundle {
  val store = Bool()
  val slot = UInt(chisel3.util.log2Ceil(slots).W)
  val sequence = UInt(Message.sequenceBits.W)

  /** The remote entry: blade, page, version. */
  val entry = UInt(64.W)

  /** Where the page is that is stored. */
  val frame = UInt(Sizes.frameBits.W)
}

/** What an answer's header says. */
class Incoming extends Bundle {
  val store = Bool()
  val slot = UInt(4.W)
  val sequence = UInt(Message.sequenceBits.W)
  val page = UInt(Entry.pageNumberBits.W)
  val done = Bool()
}
