package rackwright.pcie

import chisel3.util.{isPow2, log2Ceil}

/** The parameters of a function.
  *
  * @param tags
  *   reads outstanding, each with a place for its data.
  * @param readBytes
  *   longest read request; the place of a read holds as much.
  * @param packets
  *   number of requests from the fabric that the function stores, of each of the two classes: its header credits.
  */
case class Params(tags: Int = 64, readBytes: Int = 512, packets: Int = 32) {
  require(isPow2(tags) && tags >= 2 && tags <= 256, s"a function has 2 to 256 tags, a power of two, not $tags")
  require(Params.sizes.contains(readBytes), s"a read request is ${Params.sizes.mkString(", ")} bytes, not $readBytes")
  require(packets >= 2 && packets <= 32, s"a function holds 2 to 32 requests of a class, not $packets")

  val tagBits: Int = log2Ceil(tags)

  /** Beats of the longest read. */
  val slotBeats: Int = readBytes / Params.beatBytes
  val slotBits: Int = log2Ceil(slotBeats)
}

object Params {

  /** Bytes per beat of the packet streams. */
  val beatBytes: Int = 16

  /** Lengths of payloads and read requests in the specification (7.5.3.4), up to the maximum of a function. */
  val sizes: Seq[Int] = Seq(128, 256, 512, 1024, 2048, 4096)

  /** Longest payload of a function's writes. */
  val payloadBytes: Int = 512

  /** Bytes of a data credit (2.6.1). */
  val creditBytes: Int = 16
}
