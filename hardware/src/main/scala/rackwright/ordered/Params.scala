package rackwright.ordered

import chisel3.util.log2Ceil

import rackwright.port.MemoryPortParams

/** Parameters of the unit.
  *
  * @param walks
  *   queries whose nodes are fetched at the same time, a power of two.
  * @param sets
  *   sets of the cache, a power of two; half of them are in each bank.
  * @param byRange
  *   nodes are found in the cache by a key that they cover; otherwise by their places.
  * @param outstanding
  *   beats outstanding on each streaming port, a power of two.
  * @param commandQueue
  *   capacity of the queue of operations.
  */
case class Params(walks: Int, sets: Int, byRange: Boolean, outstanding: Int, commandQueue: Int) {
  val slotBits: Int = log2Ceil(walks)
  val setBits: Int = log2Ceil(sets)

  /** Ways of a set: a tag of a range is longer, and five ways without it have at least as many bits. */
  val ways: Int = if (byRange) 4 else 5

  /** Parameters of the streaming ports. */
  val port: MemoryPortParams = MemoryPortParams(Params.beatBytes, log2Ceil(outstanding))

  /** Parameters of the port of nodes: the tag is that of a walk, and which half of a node. */
  val nodes: MemoryPortParams = MemoryPortParams(Params.beatBytes, slotBits + 1)
}

/** Sizes that are no parameters. */
object Params {
  val beatBytes: Int = 32

  /** Bytes of a query, and of its answer. */
  val queryBytes: Int = 16
}
