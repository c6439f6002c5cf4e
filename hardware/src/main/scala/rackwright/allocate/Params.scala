package rackwright.allocate

import chisel3.util.log2Ceil

import rackwright.port.MemoryPortParams

/** What the user says about an allocator.
  *
  * @param keptGrains
  *   blocks of at most so many grains (16 bytes each, the header is one) are kept for the next call.
  * @param kept
  *   the most that are kept of one size.
  * @param recent
  *   the blocks given last whose sizes the unit remembers.
  * @param commandQueue
  *   commands that may wait.
  */
case class Params(keptGrains: Int = 32, kept: Int = 8, recent: Int = 64, commandQueue: Int = 4) {
  val keptSizeBits: Int = log2Ceil(keptGrains + 1)
  val keptCountBits: Int = log2Ceil(kept + 1)

  /** Shape of the memory port: writes have the first half of the tags, the beats of a block that is read two of the
    * rest.
    */
  val port: MemoryPortParams = MemoryPortParams(Grain.bytes, tagBits = 4)
}

/** The unit in which sizes and places in a heap are counted. */
object Grain {
  val bytes: Int = 16
  val shift: Int = log2Ceil(bytes)

  /** Bits of a place or a size in grains: a heap has less than 4 GiB. */
  val bits: Int = 28

  /** A block has a header, and room for links. */
  val leastBlock: Int = 2
}
