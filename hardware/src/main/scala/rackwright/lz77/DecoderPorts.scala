package rackwright.lz77

import chisel3._
import chisel3.util._

/** A run of output bytes: literals, or a copy of what stands `offset` bytes before it. */
class Segment extends Bundle {
  val valid = Bool()
  val literal = Bool()

  /** Bytes produced, from 1 to 64; a literal is at most one line long. */
  val length = UInt(Segment.lengthBits.W)

  /** Distance back from the first byte produced, for a copy. At least 1 and not beyond the first byte of the output. */
  val offset = UInt(32.W)
}

/** Widths of a [[Segment]]. */
object Segment {

  /** The longest copy of one segment, in bytes. */
  val most: Int = 64

  val lengthBits: Int = log2Ceil(most + 1)
}

/** The segments of one cycle, in output order, and the bytes of their literals.
  *
  * Valid segments come first. At most one of them is a literal; its bytes are those of `window` from byte `literalAt`
  * on, byte 0 being the least significant one.
  */
class SegmentGroup(val params: DecoderParams) extends Bundle {
  val segments = Vec(params.lanes, new Segment)
  val window = UInt((8 * params.bytes).W)
  val literalAt = UInt(params.lineBits.W)
}

/** Output bytes of one cycle: the lowest `count` bytes of `data`; all others are zero. */
class OutputChunk(val params: DecoderParams) extends Bundle {
  val data = UInt((8 * params.bytes).W)
  val count = UInt(params.countBits.W)
}

/** What a decoder is told at the start of an operation. */
class DecoderStart(val params: DecoderParams) extends Bundle {

  /** Address of the first byte of the output, to which fall-back reads are relative. */
  val destination = UInt(params.port.addressBits.W)

  /** Bytes of the history to use; copies from farther back read memory. */
  val history = UInt(params.offsetBits.W)
}

/** Where the bytes of a queued segment come from. */
object Origin {
  val width: Int = 2
  val literal: UInt = 0.U(width.W)
  val history: UInt = 1.U(width.W)
  val fallback: UInt = 2.U(width.W)
}

/** A segment waiting for execution. */
class QueuedSegment(val params: DecoderParams) extends Bundle {
  val origin = UInt(Origin.width.W)
  val length = UInt(Segment.lengthBits.W)
  val offset = UInt(params.offsetBits.W)
}

/** A copy whose source is read back from memory; `source` counts bytes of the output. */
class FallbackCopy extends Bundle {
  val source = UInt(32.W)
  val length = UInt(Segment.lengthBits.W)
}
