package rackwright.daronpon

import chisel3._

/** What software sets, but for the tables. */
class Settings extends Bundle {
  val own = UInt(16.W)
  val incarnation = UInt(32.W)
  val key = UInt(128.W)

  /** Requests for each core. */
  val gossipFloor = UInt(17.W)
  val averageShift = UInt(5.W)
  val maxRedirects = UInt(8.W)

  /** Peers are told when a load crosses a power of two. */
  val gossip = Bool()

  /** Redirected requests carry loads. */
  val piggyback = Bool()

  /** Peers are told every change of load. */
  val always = Bool()

  /** A request leaves the rack only when nobody in it is alive. */
  val rackLocal = Bool()

  /** The load delta is learnt. */
  val adaptive = Bool()
  val loadDelta = UInt(Sizes.wireLoadBits.W)
  val epoch = UInt(Sizes.timeBits.W)
  val truthInterval = UInt(Sizes.timeBits.W)
  val peerTimeout = UInt(Sizes.timeBits.W)
  val probeInterval = UInt(Sizes.timeBits.W)
}

/** The tables that software fills. */
class Tables(params: Params) extends Bundle {
  val services = Vec(params.services, new ServiceEntry)
  val replicas = Vec(params.replicas, new ReplicaEntry(params))
  val peers = Vec(params.peers, new PeerEntry(params))
}

/** Byte offsets of the registers. */
object Registers {
  val identity: Int = 0x00
  val keyLow: Int = 0x08
  val keyHigh: Int = 0x10
  val policy: Int = 0x18
  val loadDelta: Int = 0x20
  val epoch: Int = 0x28
  val truthInterval: Int = 0x30
  val peerTimeout: Int = 0x38
  val probeInterval: Int = 0x40
  val start: Int = 0x48
  val nextTimer: Int = 0x50
  val services: Int = 0x100
  val replicas: Int = 0x400
  val peers: Int = 0x800
  val counters: Int = 0xc00
}

/** What is counted: the names of the policy crate's counters that can be other than zero here, and frames dropped
  * before the policy sees them.
  */
object Counters {
  val names: Seq[String] = Seq(
    "requests",
    "taken_over",
    "served",
    "redirected",
    "repeated",
    "loops_stopped",
    "untracked",
    "answered",
    "strays",
    "expired",
    "doubled",
    "halved",
    "gossip",
    "truths",
    "heard",
    "stale",
    "strangers",
    "probes",
    "failures",
    "unknown_service",
    "no_replica",
    "malformed",
    "forged"
  )
}
