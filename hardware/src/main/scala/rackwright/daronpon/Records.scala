package rackwright.daronpon

import chisel3._
import chisel3.util._

/** The network address of a host. */
class Place extends Bundle {
  val mac = UInt(48.W)
  val address = UInt(32.W)
  val port = UInt(16.W)
}

/** A replica of this rack, as configured by software. */
class ReplicaEntry(params: Params) extends Bundle {
  val present = Bool()
  val place = new Place
  val service = UInt(params.serviceBits.W)
  val cores = UInt(11.W)
}

/** Another dispatcher, as configured by software; its `place` is that of a replica in its rack. */
class PeerEntry(params: Params) extends Bundle {
  val id = UInt(16.W)
  val place = new Place

  /** The services that both dispatchers serve; zero for an unused entry. */
  val services = UInt(params.services.W)

  /** Its id is higher than that of this dispatcher. */
  val after = Bool()
}

/** A service, as configured by software. */
class ServiceEntry extends Bundle {
  val present = Bool()
  val number = UInt(16.W)
}

/** The types of messages on the wire (`engine/crates/network/dispatch/src/wire.rs`). */
object Kind {
  val request: Int = 0
  val response: Int = 1
  val redirected: Int = 2
  val gossip: Int = 3
  val probe: Int = 4
  val alive: Int = 5

  /** The number of types. */
  val count: Int = 6
}

/** The classes of frames. */
object Concern extends ChiselEnum {
  val pass, tick, malformed, forged, request, response, alive, redirected, gossip = Value
}

/** The fields of a frame that may be rewritten, and the inputs of its checksums. */
class Fields extends Bundle {
  val total = UInt(16.W)
  val internetSum = UInt(16.W)
  val address = UInt(32.W)
  val port = UInt(16.W)
  val udpLength = UInt(16.W)
  val udpSum = UInt(16.W)
  val kind = UInt(8.W)
}

/** A completely received frame, without its bytes. */
class Arrival(params: Params) extends Bundle {
  val concern = Concern()

  /** Its report is in [[Told]], and is released when this arrival is accepted. */
  val told = Bool()
  val time = UInt(Sizes.timeBits.W)
  val service = UInt(params.serviceBits.W)
  val serviceKnown = Bool()

  /** The replica that sent it. */
  val source = UInt(params.replicaBits.W)

  /** Address and port of the client. */
  val client = UInt(48.W)
  val serviceNumber = UInt(16.W)
  val argument = UInt(16.W)
  val number = UInt(64.W)
  val fields = new Fields
}

/** A report of another dispatcher in front of a request, or in gossip, without its entries. */
class Told extends Bundle {
  val from = UInt(16.W)
  val incarnation = UInt(32.W)
  val sequence = UInt(32.W)
  val entries = UInt(5.W)
  val hops = UInt(8.W)

  /** Ones' complement sum of its bytes, from the end of the message header to the end of the tag. */
  val sum = UInt(16.W)
}

/** The load of a peer's replicas of one service, as reported. */
class ReportEntry extends Bundle {
  val service = UInt(16.W)
  val cores = UInt(16.W)
  val load = UInt(Sizes.wireLoadBits.W)
}

/** Actions on a frame. */
object Action extends ChiselEnum {

  /** `own` sends a message of the unit's own; every other action consumes the oldest frame. */
  val pass, discard, rewrite, own = Value
}

/** An order to the emitter. Orders are executed in sequence. */
class Order extends Bundle {
  val action = Action()
  val target = new Place
  val kind = UInt(8.W)

  /** Remove the report in front of the request, which has this many entries. */
  val strip = Bool()
  val stripEntries = UInt(5.W)
  val stripSum = UInt(16.W)

  /** Insert a sealed report with this many entries. */
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

/** Conversions of big-endian numbers. */
object BigEndian {

  /** Reverses the bytes of `data`. */
  def swap(data: UInt): UInt = {
    require(data.getWidth % 8 == 0, "whole bytes are swapped")
    Cat((0 until data.getWidth / 8).map(i => data(8 * i + 7, 8 * i)))
  }

  /** The big-endian number in bytes `from` to `to` of a flit, both included. */
  def number(flit: UInt, from: Int, to: Int): UInt = swap(flit(8 * to + 7, 8 * from))

  /** The four 16-bit words of a flit. */
  def words(flit: UInt): Seq[UInt] = (0 until 4).map(i => number(flit, 2 * i, 2 * i + 1))
}

/** Ones' complement sums of 16-bit words (RFC 1071). */
object OnesComplement {

  /** The sum of two words. */
  def add(a: UInt, b: UInt): UInt = {
    val wide = a +& b
    wide(15, 0) + wide(16)
  }

  /** Folds a wider sum into one word. */
  def fold(wide: UInt): UInt = {
    val once = wide(15, 0) +& (wide >> 16)
    once(15, 0) + once(16)
  }
}
