package rackwright.queue

import chisel3._
import chisel3.util._

/** A queue in memory, in the layout of `software/include/rackwright/queue.h`: a header and two indices, each on a line
  * of its own, and elements elsewhere.
  */
object QueueLayout {

  /** First word of a header: "RWQUEUE1" as bytes. */
  val magic: BigInt = word("RWQUEUE1")

  /** The same of a shared queue, in the layout of `shared_queue.h`: "RWSHARE1". */
  val sharedMagic: BigInt = word("RWSHARE1")

  /** Offset of the turn in the line of an element of a shared queue, in bytes. */
  val turn: Int = 56

  /** Offsets of the indices from the header, in bytes; those of a shared queue are the next tickets. */
  val writeIndex: Int = 64
  val readIndex: Int = 128

  /** Most elements of a queue. */
  val longest: Int = 1 << 20

  private def word(text: String): BigInt =
    BigInt(text.reverse.getBytes("US-ASCII").map(byte => f"$byte%02x").mkString, 16)
}

/** The words of a header, the first one in the low bits. */
class QueueHeader extends Bundle {
  val length = UInt(32.W)
  val elementBytes = UInt(32.W)
  val base = UInt(64.W)
  val magic = UInt(64.W)

  /** Whether it is the header of such a queue. */
  def isOf(kind: QueueKind): Bool = {
    val known = if (kind.isShared) magic === QueueLayout.sharedMagic.U && !length(0) else magic === QueueLayout.magic.U
    val lengths = PopCount(length) === 1.U && length <= QueueLayout.longest.U
    known && elementBytes === kind.bytes.U && lengths && base(5, 0) === 0.U
  }
}

/** A kind of queue that an engine takes part in: whether it is a shared one, and the bytes of an element. */
case class QueueKind(isShared: Boolean, bytes: Int)

/** A request to a unit: an element of its incoming queue, the first word in the low bits. */
class Descriptor extends Bundle {
  val reserved = UInt(64.W)

  /** Of the unit before in a chain. */
  val status = UInt(64.W)

  /** A buffer for the output of the next unit, as large as this one's; 0: its output replaces this unit's input. */
  val spare = UInt(64.W)
  val tag = UInt(64.W)
  val capacity = UInt(64.W)
  val destination = UInt(64.W)
  val sourceBytes = UInt(64.W)
  val source = UInt(64.W)
}

/** Its size. */
object Descriptor {
  val bytes: Int = 64

  /** In a shared queue, the turn replaces the last word. */
  val shared: QueueKind = QueueKind(isShared = true, 56)
}

/** Its result: an element of the outgoing queue. */
class Ending extends Bundle {
  val inputOffset = UInt(64.W)
  val outputBytes = UInt(64.W)
  val status = UInt(64.W)
  val tag = UInt(64.W)
}

/** Its size. */
object Ending {
  val bytes: Int = 32
}
