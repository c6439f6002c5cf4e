package rackwright.queue

import chisel3._
import chisel3.util._

/** What one side knows of a queue in memory, by its header and the index of either side.
  *
  * @param bytes
  *   of an element.
  */
class QueueSide(bytes: Int) {
  val base = Reg(UInt(64.W))
  val length = Reg(UInt((log2Ceil(QueueLayout.longest) + 1).W))

  /** The index that this side writes, and what the other side's was when it was read last. */
  val own = RegInit(0.U(64.W))
  val other = RegInit(0.U(64.W))

  /** Where the element of the own index is. */
  val place: UInt = base + ((own(19, 0) & (length - 1.U)(19, 0)) << log2Ceil(bytes))

  /** Keeps what the first words of a header say; tells whether it is one of such elements. */
  def open(words: UInt): Bool = {
    val read = words(191, 0).asTypeOf(new QueueHeader)
    base := read.base
    length := read.length
    read.isOf(bytes)
  }
}
