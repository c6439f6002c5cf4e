package rackwright.daronpon

import chisel3._
import chisel3.util._

/** Where somebody is found. */
class Place extends Bundle {
  val mac = UInt(48.W)
  val address = UInt(32.W)
  val port = UInt(16.W)
}

/** A replica of this rack, as software describes it. */
class ReplicaEntry(params: Params) extends Bundle {
  val present = Bool()
  val place = new Place
  val service = UInt(params.serviceBits.W)
  val cores = UInt(11.W)
}

/** Another dispatcher, as software describes it: `place` is a replica below it. */
class PeerEntry(params: Params) extends Bundle {
  val id = UInt(16.W)
  val place = new Place

  /** The services that both have; none for an entry that is not used. */
  val services = UInt(params.services.W)

  /** Its number is higher than this dispatcher's. */
  val after = Bool()
}

/** A service, as software describes it. */
class ServiceEntry extends Bundle {
  val present = Bool()
  val number = UInt(16.W)
}

/** The kinds of messages on the wire (`engine/crates/network/dispatch/src/wire.rs`). */
object Kind {
  val request: Int = 0
  val response: Int = 1
  val redirected: Int = 2
  val gossip: Int = 3
  val probe: Int = 4
  val alive: Int = 5

  /** How many there are. */
  val count: Int = 6
}

/** What a frame is to the unit. */
object Concern extends ChiselEnum {
  val pass, tick, malformed, forged, request, response, alive, redirected, gossip = Value
}

/** Fields of a frame that are rewritten, and what its checksums need. */
class Fields extends Bundle {
  val total = UInt(16.W)
  val internetSum = UInt(16.W)
  val address = UInt(32.W)
  val port = UInt(16.W)
  val udpLength = UInt(16.W)
  val udpSum = UInt(16.W)
  val kind = UInt(8.W)
}

/** A frame that has come whole, without its bytes. */
class Arrival(params: Params) extends Bundle {
  val concern = Concern()

  /** Its report stands in [[Told]] and is given back when this arrival is taken. */
  val told = Bool()
  val time = UInt(Sizes.timeBits.W)
  val service = UInt(params.serviceBits.W)
  val serviceKnown = Bool()

  /** The replica that it comes from. */
  val source = UInt(params.replicaBits.W)

  /** Address and port of the client. */
  val client = UInt(48.W)
  val serviceNumber = UInt(16.W)
  val argument = UInt(16.W)
  val number = UInt(64.W)
  val fields = new Fields
}

/** What another dispatcher says in front of a request, or in gossip, but for the entries. */
class Told extends Bundle {
  val from = UInt(16.W)
  val incarnation = UInt(32.W)
  val sequence = UInt(32.W)
  val entries = UInt(5.W)
  val hops = UInt(8.W)

  /** Ones' complement sum of its bytes, from the end of the message's header to the end of the tag. */
  val sum = UInt(16.W)
}

/** The load of a peer's replicas of one service, as it is told. */
class ReportEntry extends Bundle {
  val service = UInt(16.W)
  val cores = UInt(16.W)
  val load = UInt(Sizes.wireLoadBits.W)
}

/** What is done with a frame. */
object Deed extends ChiselEnum {

  /** `own` is a message of the unit's own; all others take the oldest frame. */
  val pass, discard, rewrite, own = Value
}

/** What leaves, in order. */
class Order extends Bundle {
  val deed = Deed()
  val target = new Place
  val kind = UInt(8.W)

  /** The report in front of the request is taken off, with so many entries. */
  val strip = Bool()
  val stripEntries = UInt(5.W)
  val stripSum = UInt(16.W)

  /** A sealed report is put in, with so many entries. */
  val insert = Bool()
  val insertEntries = UInt(5.W)
  val fields = new Fields
}

/** Up to eight bytes of a frame, byte 0 in the low bits. */
class Piece extends Bundle {
  val data = UInt(64.W)
  val count = UInt(4.W)
  val last = Bool()
}

/** Numbers on the wire are big-endian. */
object BigEndian {

  /** The bytes of `data` in the other order. */
  def swap(data: UInt): UInt = {
    require(data.getWidth % 8 == 0, "whole bytes are swapped")
    Cat((0 until data.getWidth / 8).map(i => data(8 * i + 7, 8 * i)))
  }

  /** The number in bytes `from` to `to`, both included, of a flit. */
  def number(flit: UInt, from: Int, to: Int): UInt = swap(flit(8 * to + 7, 8 * from))

  /** The four 16-bit words of a flit. */
  def words(flit: UInt): Seq[UInt] = (0 until 4).map(i => number(flit, 2 * i, 2 * i + 1))
}

/** Ones' complement sums of 16-bit words (RFC 1071). */
object OnesComplement {

  /** The sum of two. */
  def add(a: UInt, b: UInt): UInt = {
    val wide = a +& b
    wide(15, 0) + wide(16)
  }

  /** A sum of several words made one word. */
  def fold(wide: UInt): UInt = {
    val once = wide(15, 0) +& (wide >> 16)
    once(15, 0) + once(16)
  }
}
