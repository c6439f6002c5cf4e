package rackwright.zstd.encode

import chisel3._
import chisel3.util._

import rackwright.zstd.SequenceCodes

/** Lengths to their codes: the way back of [[SequenceCodes]]. Extra bits are the low bits of a length (of a match: of
  * its length less 3), as every baseline is a multiple of what its extra bits reach.
  */
object LengthCodes {

  /** Code of a number of literals. */
  def ofLiterals(length: UInt): UInt = code(SequenceCodes.literalLengths.map(_._1), 64, 19, length)

  /** Code of a match, from its length less 3. */
  def ofMatch(rest: UInt): UInt = code(SequenceCodes.matchLengths.map(_._1 - 3), 128, 36, rest)

  /** Small lengths are looked up; from `regular` on, codes go with powers of two. */
  private def code(baselines: Seq[Int], regular: Int, above: Int, length: UInt): UInt = {
    val small = VecInit((0 until regular).map(n => (baselines.count(_ <= n) - 1).U(6.W)))
    Mux(length >= regular.U, Log2(length) +& above.U, small(length(log2Ceil(regular) - 1, 0)))
  }
}
