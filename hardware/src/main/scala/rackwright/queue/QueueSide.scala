package rackwright.queue

import chisel3._
import chisel3.util._

/** One side's state of a queue in memory, from its header and the indices of both sides.
  *
  * @param bytes
  *   of an element.
  * @param others
  *   further kinds of queues: shared ones, and those with an element in each line.
  */
class QueueSide(bytes: Int, others: Seq[QueueKind]) {
  val base = Reg(UInt(64.W))
  val length = Reg(UInt((log2Ceil(QueueLayout.longest) + 1).W))

  /** Whether the queue is a shared one, and whether its elements fill their lines. */
  val isShared: Bool = if (others.exists(_.isShared)) RegInit(false.B) else false.B
  val isWide: Bool = if (others.exists(kind => isLine(kind) && bytes != 64)) RegInit(false.B) else (bytes == 64).B

  /** The index that this side writes, and the other side's index when it was last read. */
  val own = RegInit(0.U(64.W))
  val other = RegInit(0.U(64.W))

  /** The address of the element at the own index, and that of the beat with its turn. */
  private val number = own(19, 0) & (length - 1.U)(19, 0)
  val place: UInt = base + Mux(isShared || isWide, number << 6, number << log2Ceil(bytes))
  val turnBeat: UInt = place(63, 6) ## (QueueLayout.turn & ~15).U(6.W)

  /** Number of beats of an element, and its words. */
  def beats: UInt = Mux(isWide, 4.U, (bytes / 16).U)
  def words: UInt = Mux(isWide, !isShared ## 127.U(7.W), ((1 << (bytes / 8)) - 1).U(8.W))

  // Distances of indices, whose differences are at most the length.
  private def distance(from: UInt, to: UInt): UInt = (to - from)(length.getWidth - 1, 0)

  /** Number of elements that are published and not taken, as the consumer knows, and of free places, as the producer
    * does.
    */
  def ahead: UInt = distance(own, other)
  def free: UInt = length - distance(other, own)

  /** Of elements of 8 bytes, of which several are moved together: as many of `most` as lie in the line of the own
    * index.
    */
  def part(most: UInt): LinePart = {
    val last = Mux(length >= 8.U, 7.U, (length - 1.U)(2, 0))
    val inLine = (last +& 1.U) - (own(2, 0) & last)
    val found = Wire(new LinePart)
    found.line := place >> 6
    found.offset := place(5, 3)
    found.count := Mux(most < inLine, most, inLine)
    found
  }

  /** Stores the first words of a header; returns whether it is one for such elements. */
  def open(words: UInt): Bool = {
    val read = words(191, 0).asTypeOf(new QueueHeader)
    def isOneOf(kinds: Seq[QueueKind]): Bool = kinds.map(read.isOf).foldLeft(false.B)(_ || _)
    base := read.base
    length := read.length
    if (!isShared.isLit) isShared := isOneOf(others.filter(_.isShared))
    if (!isWide.isLit) isWide := isOneOf(others.filter(isLine))
    isOneOf(QueueKind(isShared = false, bytes) +: others)
  }

  private def isLine(kind: QueueKind): Boolean = kind == Descriptor.shared || kind.bytes == 64
}

object QueueSide {

  /** Whether a ticket of the other side's counter is still to be drawn: whether it is at or behind the own one. */
  def isBehind(other: UInt, own: UInt): Bool = {
    val ahead = other - own
    ahead(63) || ahead === 0.U
  }
}
