package rackwright.gather

import chisel3.util.log2Ceil

import rackwright.port.MemoryPortParams

/** The parameters of a gather unit.
  *
  * @param elements
  *   elements requested ahead of the program, a power of two.
  * @param indexBeats
  *   beats of indices requested ahead, a power of two.
  * @param sequences
  *   sequences of indices that may wait.
  * @param commandQueue
  *   commands that may wait.
  */
case class Params(elements: Int = 32, indexBeats: Int = 8, sequences: Int = 4, commandQueue: Int = 4) {

  /** Shape of the port on which indices are read. */
  val indices: MemoryPortParams = MemoryPortParams(Params.beatBytes, log2Ceil(indexBeats))

  /** Shape of the port on which elements are read. */
  val table: MemoryPortParams = MemoryPortParams(Params.beatBytes, log2Ceil(elements))
}

/** Sizes that are no parameters. */
object Params {
  val beatBytes: Int = 32

  /** A response has this number of bytes, and a larger element is returned in pieces. */
  val pieceBytes: Int = 8

  /** Bits of a number of elements. */
  val countBits: Int = 48
}
