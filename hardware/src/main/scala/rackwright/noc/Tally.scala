package rackwright.noc

import chisel3._

/** Sums over a whole mesh: too wide to be added in one cycle. */
object Tally {

  /** Number of values added in a cycle. */
  private val group = 8

  /** The sum of `values`, [[delay]] cycles later. */
  def apply(values: Seq[UInt]): UInt = levels(values, group)

  private def levels(values: Seq[UInt], most: Int): UInt = {
    val sums = values.grouped(most).map(some => RegNext(some.reduce(_ +& _), 0.U)).toSeq
    if (sums.size == 1) sums.head else levels(sums, most)
  }

  /** Cycles until the sum of `values` values is ready. */
  def delay(values: Int): Int = if (values <= group) 1 else 1 + delay((values + group - 1) / group)
}
