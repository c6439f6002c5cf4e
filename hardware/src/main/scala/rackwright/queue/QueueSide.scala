package rackwright.queue

import chisel3._
import chisel3.util._

/** One side's state of a queue in memory, from its header and the indices of both sides.
  *
  * @param bytes
  *   of an element.
  */
class QueueSide(bytes: Int) {
  val base = Reg(UInt(64.W))
  val length = Reg(UInt((log2Ceil(QueueLayout.longest) + 1).W))

  /** The index that this side writes, and the other side's index when it was last read. */
  val own = RegInit(0.U(64.W))
  val other = RegInit(0.U(64.W))

  /** Elements from the one of the own index to the end of its line. */
  val inLine: UInt = if (QueueSide.perLine(bytes) == 1) 1.U
  else {
    val bits = log2Ceil(QueueSide.perLine(bytes))
    val most = Mux(length >= QueueSide.perLine(bytes).U, (QueueSide.perLine(bytes) - 1).U, (length - 1.U)(bits - 1, 0))
    (most +& 1.U) - (own(bits - 1, 0) & most)
  }

  /** The address of the element at the own index. */
  val place: UInt = base + ((own(19, 0) & (length - 1.U)(19, 0)) << log2Ceil(bytes))

  /** The beat in which it begins, and whether it begins in the middle of it. */
  val beat: UInt = place(63, 4) ## 0.U(4.W)
  val odd: Bool = if (bytes == 8) place(3) else false.B

  /** Number of beats that contain `count` elements from there, and the words of these. */
  def beats(count: UInt): UInt = if (bytes == 8) (count +& odd + 1.U) >> 1 else (bytes / 16).U
  def words(count: UInt): UInt = if (bytes == 8) ((1.U << count) - 1.U)(7, 0) << odd else ((1 << (bytes / 8)) - 1).U

  /** Stores the first words of a header; returns whether it is one for such elements. */
  def open(words: UInt): Bool = {
    val read = words(191, 0).asTypeOf(new QueueHeader)
    base := read.base
    length := read.length
    read.isOf(bytes)
  }
}

object QueueSide {

  /** Number of elements of this size in a line that are moved together: those of several words are moved separately. */
  def perLine(bytes: Int): Int = if (bytes == 8) 8 else 1
}
