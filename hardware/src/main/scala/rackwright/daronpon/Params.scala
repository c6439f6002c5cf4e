package rackwright.daronpon

import chisel3.util.{isPow2, log2Ceil}

/** The parameters of a dispatcher that its user chooses: the sizes of its tables.
  *
  * @param services
  *   services that it dispatches.
  * @param replicas
  *   replicas in its rack, of all services.
  * @param peers
  *   dispatchers of other racks.
  * @param flights
  *   requests under way in its rack that can be counted.
  */
case class Params(services: Int = 4, replicas: Int = 16, peers: Int = 8, flights: Int = 4096) {
  require(services >= 1 && services <= 16, s"services is from 1 to 16, not $services")
  require(
    isPow2(replicas) && replicas >= 2 && replicas <= 64,
    s"replicas is a power of two from 2 to 64, not $replicas"
  )
  require(isPow2(peers) && peers >= 2 && peers <= 32, s"peers is a power of two from 2 to 32, not $peers")
  require(
    isPow2(flights) && flights >= 64 && flights <= 65536,
    s"flights is a power of two from 64 to 65536, not $flights"
  )

  /** Width of the index of a service. */
  val serviceBits: Int = log2Ceil(services).max(1)

  /** Width of the index of a replica. */
  val replicaBits: Int = log2Ceil(replicas)

  /** Width of the index of a peer. */
  val peerBits: Int = log2Ceil(peers)

  /** Rows of the table of flights. */
  val rows: Int = flights / Sizes.ways

  /** Latency in cycles from the selection of a service to its least loaded replica and peer; determining the peers that
    * are alive takes one of these cycles.
    */
  val tournamentCycles: Int = (1 + replicaBits).max(2 + peerBits)
}

/** Sizes that the protocol and the policy crate define (`engine/crates/network/dispatch`). */
object Sizes {

  /** The number of outstanding requests with the same hash that can be tracked. */
  val ways: Int = 4

  /** The number of epochs for which a request is remembered. */
  val epochs: Int = 4

  /** Width of a time in nanoseconds. */
  val timeBits: Int = 56

  /** Width of a number of outstanding requests: up to the size of the largest table of flights. */
  val countBits: Int = 17

  /** Width of a sum of cores: 64 replicas with 1024 cores each. */
  val coresBits: Int = 17

  /** Width of the reciprocal of a number of cores, a fixed-point number with 16 fractional bits. */
  val reciprocalBits: Int = 17

  /** Width of the product of requests and reciprocal. */
  val productBits: Int = countBits + reciprocalBits

  /** Fractional bits of a product that a load omits. */
  val loadShift: Int = 8

  /** Width of a load computed in this unit. */
  val loadBits: Int = productBits - loadShift

  /** Width of a load reported by a peer. */
  val wireLoadBits: Int = 32

  /** Width of the increment of a peer's load for one more request: 256 for a single core. */
  val stepBits: Int = 9

  /** The most entries of a report. */
  val entries: Int = 16

  /** The longest frame in bytes. */
  val maxFrameBytes: Int = 9600

  /** Size of a flit in bytes. */
  val flitBytes: Int = 8

  /** Size of the headers before a message: Ethernet, IPv4, UDP. */
  val headersBytes: Int = 42

  /** Size of the header of a message. */
  val messageBytes: Int = 16
}
