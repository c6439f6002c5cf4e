package rackwright.zstd.encode

import chisel3._
import chisel3.util._

import rackwright.zstd.SequenceCodes

/** Maps lengths to codes: the inverse of [[SequenceCodes]]. The extra bits are the low bits of a length (for a match:
  * of its length minus 3), since every baseline is a multiple of the range of its extra bits.
  */
object LengthCodes {

  /** The code of a literals length. */
  def ofLiterals(length: UInt): UInt = code(SequenceCodes.literalLengths.map(_._1), 64, 19, length)

  /** The code of a match length, from the length minus 3. */
  def ofMatch(rest: UInt): UInt = code(SequenceCodes.matchLengths.map(_._1 - 3), 128, 36, rest)

  /** Small lengths are looked up; from `regular` on, the code follows from the position of the leading one. */
  private def code(baselines: Seq[Int], regular: Int, above: Int, length: UInt): UInt = {
    val small = VecInit((0 until regular).map(n => (baselines.count(_ <= n) - 1).U(6.W)))
    Mux(length >= regular.U, Log2(length) +& above.U, small(length(log2Ceil(regular) - 1, 0)))
  }
}
