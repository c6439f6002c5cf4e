package rackwright.snappy

import chisel3._
import chisel3.util._

/** The head of one element: its tag byte and the bytes that belong to it. */
class SnappyElement extends Bundle {
  val literal = Bool()

  /** Bytes of the head, 1 to 5: for a literal without its bytes. */
  val headBytes = UInt(3.W)

  /** Bytes of output, 1 to 2^32. */
  val length = UInt(33.W)

  /** Distance back, for a copy; 0 is not valid. */
  val offset = UInt(32.W)
}

/** The format of elements (public format description, `format_description.txt` of the reference library, section 2). */
object SnappyTag {

  /** The most bytes of a head. */
  val most: Int = 5

  /** Upper bits of a literal's tag from which on the length less one follows, in 1 to 4 bytes. */
  private val inlineLengths = 60

  /** Decodes the head that begins at bit 0 of `head`, 40 bits. Bytes beyond the head don't matter. */
  def decode(head: UInt): SnappyElement = {
    val element = Wire(new SnappyElement)
    val kind = head(1, 0)
    val upper = head(7, 2)
    val extraBytes = upper - (inlineLengths - 1).U
    val isLong = upper >= inlineLengths.U
    val extra = head(39, 8)
    val longLength =
      MuxLookup(extraBytes(2, 0), extra)(Seq(1.U -> extra(7, 0), 2.U -> extra(15, 0), 3.U -> extra(23, 0)))

    element.literal := kind === 0.U
    element.headBytes := MuxLookup(kind, 1.U)(Seq(1.U -> 2.U, 2.U -> 3.U, 3.U -> 5.U))
    element.length := upper +& 1.U
    element.offset := MuxLookup(kind, extra)(Seq(1.U -> Cat(head(7, 5), head(15, 8)), 2.U -> extra(15, 0)))
    when(kind === 1.U) { element.length := head(4, 2) +& 4.U }
    when(kind === 0.U && isLong) {
      element.length := longLength +& 1.U
      element.headBytes := 1.U + extraBytes(2, 0)
    }
    element
  }
}
