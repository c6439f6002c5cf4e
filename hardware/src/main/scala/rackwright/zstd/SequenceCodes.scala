package rackwright.zstd

import chisel3._

/** The three kinds of codes of a sequence, in the order of their descriptions, and the tables of RFC 8878, section
  * 3.1.1.3.2.
  */
object SequenceCodes {
  val literals: Int = 0
  val offset: Int = 1
  val matched: Int = 2

  /** Largest code and largest accuracy of each kind. */
  val mostCode: Seq[Int] = Seq(35, 31, 52)
  val mostLog: Seq[Int] = Seq(9, 8, 9)

  /** Baseline and number of extra bits of each code of literals. */
  val literalLengths: Seq[(Int, Int)] = (0 until 16).map((_, 0)) ++ continued(
    16,
    Seq(1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
  )

  /** Baseline and number of extra bits of each code of matches. */
  val matchLengths: Seq[(Int, Int)] = (0 until 32).map(i => (i + 3, 0)) ++ continued(
    35,
    Seq(1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
  )

  /** Each baseline is behind what the code before reaches. Codes that stand for 64 literals or 131 matched bytes and
    * more begin at powers of two, which that gives too.
    */
  private def continued(first: Int, bits: Seq[Int]): Seq[(Int, Int)] =
    bits.scanLeft(first) { (baseline, extra) => baseline + (1 << extra) }.zip(bits)

  /** Counts of the predefined tables, -1 for less than one, and their accuracies. */
  val predefined: Seq[Seq[Int]] = Seq(
    Seq(4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1),
    Seq(1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1),
    Seq(1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
      1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1)
  )
  val predefinedLog: Seq[Int] = Seq(6, 5, 6)

  /** The number of extra bits of `code`, which is at most the largest one of its kind. */
  def extraBits(kind: Int, code: UInt): UInt =
    if (kind == offset) code(4, 0)
    else lookup((if (kind == literals) literalLengths else matchLengths).map(_._2), code, 5)

  /** The baseline of a length's code. */
  def baseline(kind: Int, code: UInt): UInt =
    lookup((if (kind == literals) literalLengths else matchLengths).map(_._1), code, Sequence.lengthBits)

  private def lookup(values: Seq[Int], code: UInt, width: Int): UInt =
    VecInit(values.padTo(64, 0).map(_.U(width.W)))(code)
}
