package rackwright.daronpon

import chisel3._

import rackwright.port.RegisterMap

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

/** The register map, as `registers.json` has it for the largest tables. */
object Registers {
  private val largest = RegisterMap.read("daronpon")

  /** That of a unit with tables of the sizes of `params`. */
  def of(params: Params): RegisterMap = largest
    .sized("services", params.services)
    .sized("replicas", params.replicas)
    .sized("replica_places", params.replicas)
    .sized("peers", params.peers)
    .sized("peer_places", params.peers)
}

/** What is counted: the names of the policy crate's counters that can be other than zero here, and frames dropped
  * before the policy sees them.
  */
object Counters {
  val names: Seq[String] = RegisterMap.read("daronpon").counters.map(_.name)
}
