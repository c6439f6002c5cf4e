package rackwright.internet

import chisel3._
import chisel3.util.Cat

/** Which stream has the datagrams to a port. */
class Binding(streamBits: Int) extends Bundle {
  val present = Bool()
  val stream = UInt(streamBits.W)
  val port = UInt(16.W)
}

/** The rate of a sender: a packet for each so many `cycles`, and the `allowance` of cycles by which packets may be
  * early.
  */
class RateLimit extends Bundle {
  val cycles, allowance = UInt(RateLimit.bits.W)
}

private object RateLimit {

  /** Width of its numbers. */
  val bits: Int = 32
}

/** What software sets. */
class Settings(params: Params) extends Bundle {
  val mac = UInt(48.W)
  val address = UInt(32.W)
  val mask = UInt(32.W)
  val gateway = UInt(32.W)

  /** Frames have a tag with this number. */
  val tagged = Bool()
  val vlan = UInt(12.W)

  /** Cycles between two queries for one address. */
  val interval = UInt(40.W)

  /** Cycles between two messages that a port is unreachable; 0: none is sent. */
  val unreachable = UInt(40.W)

  /** Cycles until a datagram of which fragments lack is given up. */
  val reassembly = UInt(40.W)

  /** Cycles between two packets of a sender in the long run, and by how many cycles it may be ahead; 0 cycles: any. */
  val limit = new RateLimit
  val addresses = Vec(Settings.others, UInt(32.W))
  val groups = Vec(Settings.others, UInt(32.W))
  val bindings = Vec(params.bindings, new Binding(params.streamBits))

  /** All hosts of the own network, whose broadcast address this is. */
  def broadcast: UInt = address | ~mask

  /** Whether it is one of our addresses. */
  def isOwn(other: UInt): Bool = (address +: addresses).map(_ === other).reduce(_ || _) && other =/= 0.U

  /** Whether it is a group to which we belong. */
  def isGroup(other: UInt): Bool = groups.map(group => group === other && group =/= 0.U).reduce(_ || _)

  /** Whether a group to which we belong has this station. */
  def isGroupStation(mac: UInt): Bool =
    groups.map(group => Settings.station(group) === mac && group =/= 0.U).reduce(_ || _)
}

object Settings {

  /** Further addresses, and groups. */
  val others: Int = 4

  /** The station of a group (RFC 1112). */
  def station(group: UInt): UInt = Cat(0x01005e.U(24.W), 0.U(1.W), group(22, 0))
}
