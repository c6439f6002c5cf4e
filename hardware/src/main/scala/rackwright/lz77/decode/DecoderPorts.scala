package rackwright.lz77.decode

import chisel3._
import chisel3.util._

/** A run of output bytes: literals, or a copy of what stands `offset` bytes before it.
  *
  * @param dictionary
  *   whether there are copies from a dictionary.
  */
class Segment(dictionary: Boolean = false) extends Bundle {
  val valid = Bool()
  val literal = Bool()

  /** Bytes produced, from 1 to 64; a literal is at most one line long. */
  val length = UInt(Segment.lengthBits.W)

  /** Distance back from the first byte produced, for a copy. At least 1 and not beyond the first byte of the output, or
    * of the dictionary before it.
    */
  val offset = UInt(32.W)

  /** A copy all of whose source is in the dictionary. */
  val fromDictionary = Option.when(dictionary)(Bool())
}

/** Widths of a [[Segment]]. */
object Segment {

  /** The longest copy of one segment, in bytes. */
  val most: Int = 64

  val lengthBits: Int = log2Ceil(most + 1)
}

/** The segments of one cycle, in output order. Valid segments come first; at most one of them is a literal. */
class SegmentGroup(val params: DecoderParams) extends Bundle {
  val segments = Vec(params.lanes, new Segment(params.dictionary))
}

/** Literal bytes on their way into the decoder: `count` bytes of `window` from byte `at` on, around its end. Byte 0 is
  * the least significant one.
  */
class LiteralRun(val params: DecoderParams) extends Bundle {
  val window = UInt((8 * params.bytes).W)
  val at = UInt(params.lineBits.W)
  val count = UInt(params.countBits.W)
}

/** What a decoder is told at the start of an operation. */
class DecoderStart(val params: DecoderParams) extends Bundle {

  /** Address of the first byte of the output. */
  val destination = UInt(params.port.addressBits.W)

  /** Bytes of the history to use; copies from farther back read memory. */
  val history = UInt(params.offsetBits.W)

  /** What counts as standing before the output. */
  val dictionary = Option.when(params.dictionary)(new DecoderDictionary(params))
}

/** A dictionary in memory; its last byte stands before the first one of the output. */
class DecoderDictionary(params: DecoderParams) extends Bundle {
  val address = UInt(params.port.addressBits.W)
  val bytes = UInt(32.W)
}

/** A place in a memory of lines. */
class LinePlace(lineNumberBits: Int, lineBits: Int) extends Bundle {
  val line = UInt(lineNumberBits.W)
  val byte = UInt(lineBits.W)
}

/** What one lane of a step makes, at most a line, with all that is known before its turn comes. Exactly one of
  * `literal`, `history` and `fallback` says where the bytes come from.
  */
class Piece(val params: DecoderParams) extends Bundle {
  val literal = Bool()
  val history = Bool()
  val fallback = Bool()
  val length = UInt(params.countBits.W)

  /** The first byte in the memory it comes from, and whether the line after that one is needed too. */
  val source = new LinePlace(params.sourceLineBits, params.lineBits)
  val crosses = Bool()

  /** Whether the two lines are still in the registers of the history. */
  val young = Vec(2, Bool())

  /** The first byte in the output, as far as the registers of the history tell lines apart. */
  val place = new LinePlace(History.bankBits, params.lineBits)

  /** Bytes between the source and the step it is in, up to a line: alone, and together with the piece before it. */
  val slack = UInt(params.countBits.W)
  val pairedSlack = UInt(params.countBits.W)

  /** May be made in the step of the piece before it, and how many bytes both make. */
  val pairs = Bool()
  val pairedLength = UInt(params.countBits.W)
}

/** Signals that only some decoders have. */
private[decode] object Optional {

  /** Connects `from` to `to` where both are there. */
  def connect[T <: Data](to: Option[T], from: Option[T]): Unit = to.zip(from).foreach { case (sink, source) =>
    sink := source
  }
}
