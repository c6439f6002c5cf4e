package rackwright.daronpon

import chisel3.util.{isPow2, log2Ceil}

/** What the user says about a dispatcher: how large its tables are.
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

  /** Cycles from the choice of a service to the least loaded of its replicas and peers; who of the peers is alive takes
    * one of them.
    */
  val tournamentCycles: Int = (1 + replicaBits).max(2 + peerBits)
}

/** Sizes that the protocol and the policy crate fix (`engine/crates/network/dispatch`). */
object Sizes {

  /** Requests with the same hash that can be counted. */
  val ways: Int = 4

  /** Epochs for which a request is remembered. */
  val epochs: Int = 4

  /** Width of a time in nanoseconds. */
  val timeBits: Int = 56

  /** Width of a number of requests under way: up to the largest table of flights. */
  val countBits: Int = 17

  /** Width of a sum of cores: 64 replicas of 1024. */
  val coresBits: Int = 17

  /** Width of one divided by cores, 16 bits of it below the point. */
  val reciprocalBits: Int = 17

  /** Width of requests times reciprocal. */
  val productBits: Int = countBits + reciprocalBits

  /** Bits of a product that a load doesn't have. */
  val loadShift: Int = 8

  /** Width of a load that is counted here. */
  val loadBits: Int = productBits - loadShift

  /** Width of a load that a peer tells. */
  val wireLoadBits: Int = 32

  /** Width of what a request more adds to a peer's load: 256 for a core. */
  val stepBits: Int = 9

  /** Most entries of a report. */
  val entries: Int = 16

  /** Longest frame, in bytes. */
  val maxFrameBytes: Int = 9600

  /** Bytes of a flit. */
  val flitBytes: Int = 8

  /** Bytes of a frame before the message: Ethernet, IPv4, UDP. */
  val headersBytes: Int = 42

  /** Bytes of the message's header. */
  val messageBytes: Int = 16
}
