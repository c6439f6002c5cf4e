package rackwright.daronpon

import chisel3._

import rackwright.port.RegisterMap

/** Everything that software configures, except the tables. */
class Settings extends Bundle {
  val own = UInt(16.W)
  val incarnation = UInt(32.W)
  val key = UInt(128.W)

  /** In requests for each core. */
  val gossipFloor = UInt(17.W)
  val averageShift = UInt(5.W)
  val maxRedirects = UInt(8.W)

  /** Announce a load when it crosses a power of two. */
  val gossip = Bool()

  /** Attach loads to redirected requests. */
  val piggyback = Bool()

  /** Announce every change of load. */
  val always = Bool()

  /** A request leaves the rack only if no replica in it is alive. */
  val rackLocal = Bool()

  /** Adapt the load delta to the measured error. */
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

/** The register map, as in `registers.json`, for the largest tables. */
object Registers {
  private val largest = RegisterMap.read("daronpon")

  /** The register map of a unit whose tables have the sizes of `params`. */
  def of(params: Params): RegisterMap = largest
    .sized("services", params.services)
    .sized("replicas", params.replicas)
    .sized("replica_places", params.replicas)
    .sized("peers", params.peers)
    .sized("peer_places", params.peers)
}

/** The counters: those of the policy crate that can be nonzero here, and frames that are dropped before the policy
  * handles them.
  */
object Counters {
  val names: Seq[String] = RegisterMap.read("daronpon").counters.map(_.name)
}
