package rackwright.zstd

import chisel3._

/** The three code types of a sequence (literals length, offset, match length), in the order in which a block describes
  * their tables, and the constants of RFC 8878, section 3.1.1.3.2.
  */
object SequenceCodes {
  val literals: Int = 0
  val offset: Int = 1
  val matched: Int = 2

  /** The largest code and the largest accuracy log of each code type. */
  val mostCode: Seq[Int] = Seq(35, 31, 52)
  val mostLog: Seq[Int] = Seq(9, 8, 9)

  /** Baseline and number of extra bits of each literals length code. */
  val literalLengths: Seq[(Int, Int)] = (0 until 16).map((_, 0)) ++ continued(
    16,
    Seq(1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
  )

  /** Baseline and number of extra bits of each match length code. */
  val matchLengths: Seq[(Int, Int)] = (0 until 32).map(i => (i + 3, 0)) ++ continued(
    35,
    Seq(1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
  )

  /** Computes baselines from extra bits: each baseline follows the range of the code before it. Codes for 64 literals
    * or 131 matched bytes and more start at powers of two, which the same rule yields.
    */
  private def continued(first: Int, bits: Seq[Int]): Seq[(Int, Int)] =
    bits.scanLeft(first) { (baseline, extra) => baseline + (1 << extra) }.zip(bits)

  /** Predefined distributions, with -1 for a probability of less than one, and their accuracy logs. */
  val predefined: Seq[Seq[Int]] = Seq(
    Seq(4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1),
    Seq(1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1),
    Seq(1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
      1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1)
  )
  val predefinedLog: Seq[Int] = Seq(6, 5, 6)

  /** The number of extra bits of `code`, which must not exceed the largest code of its type. */
  def extraBits(kind: Int, code: UInt): UInt =
    if (kind == offset) code(4, 0)
    else lookup((if (kind == literals) literalLengths else matchLengths).map(_._2), code, 5)

  /** The baseline of a length code. */
  def baseline(kind: Int, code: UInt): UInt =
    lookup((if (kind == literals) literalLengths else matchLengths).map(_._1), code, Sequence.lengthBits)

  private def lookup(values: Seq[Int], code: UInt, width: Int): UInt =
    VecInit(values.padTo(64, 0).map(_.U(width.W)))(code)
}
