package rackwright.allocate

import chisel3.util.log2Ceil

import rackwright.port.MemoryPortParams

/** The parameters of an allocator.
  *
  * @param keptGrains
  *   maximum size in grains (16 bytes each, including one for the header) of blocks stored on chip for the next call.
  * @param kept
  *   maximum number of blocks of one size stored on chip.
  * @param recent
  *   number of recently allocated blocks whose sizes are remembered.
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
