package rackwright.lz77.decode

import chisel3._
import chisel3.util._

/** A run of output bytes: literals, or a copy of the bytes `offset` before it.
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

/** The segments of one cycle, in output order. Valid segments are first; at most one of them is a literal. */
class SegmentGroup(val params: DecoderParams) extends Bundle {
  val segments = Vec(params.lanes, new Segment(params.dictionary))
}

/** Literal bytes for the decoder: `count` bytes of `window` from byte `at` on, around its end. Byte 0 is the least
  * significant one.
  */
class LiteralRun(val params: DecoderParams) extends Bundle {
  val window = UInt((8 * params.bytes).W)
  val at = UInt(params.lineBits.W)
  val count = UInt(params.countBits.W)
}

/** The parameters of a decoder at the start of an operation. */
class DecoderStart(val params: DecoderParams) extends Bundle {

  /** Address of the first byte of the output. */
  val destination = UInt(params.port.addressBits.W)

  /** Bytes of the history to use; copies from farther back read memory. */
  val history = UInt(params.offsetBits.W)

  /** The bytes before the output. */
  val dictionary = Option.when(params.dictionary)(new DecoderDictionary(params))
}

/** A dictionary in memory; its last byte precedes the first one of the output. */
class DecoderDictionary(params: DecoderParams) extends Bundle {
  val address = UInt(params.port.addressBits.W)
  val bytes = UInt(32.W)
}

/** A place in a memory of lines. */
class LinePlace(lineNumberBits: Int, lineBits: Int) extends Bundle {
  val line = UInt(lineNumberBits.W)
  val byte = UInt(lineBits.W)
}

/** The output of one lane in a step, at most a line, with its precomputed properties. Exactly one of `literal`,
  * `history` and `fallback` selects the source of the bytes.
  */
class Piece(val params: DecoderParams) extends Bundle {
  val literal = Bool()
  val history = Bool()
  val fallback = Bool()
  val length = UInt(params.countBits.W)

  /** The first byte in its source memory, and whether the line after that one is needed too. */
  val source = new LinePlace(params.sourceLineBits, params.lineBits)
  val crosses = Bool()

  /** Whether the two lines are still in the registers of the history. */
  val young = Vec(2, Bool())

  /** The first byte in the output, as far as the registers of the history distinguish lines. */
  val place = new LinePlace(History.bankBits, params.lineBits)

  /** Bytes between the source and the step it is in, up to a line: alone, and together with the piece before it. */
  val slack = UInt(params.countBits.W)
  val pairedSlack = UInt(params.countBits.W)

  /** May be combined with the previous piece in a step, and the number of bytes of both. */
  val pairs = Bool()
  val pairedLength = UInt(params.countBits.W)
}

/** Signals that only some decoders have. */
private[decode] object Optional {

  /** Connects `from` to `to` if both exist. */
  def connect[T <: Data](to: Option[T], from: Option[T]): Unit = to.zip(from).foreach { case (sink, source) =>
    sink := source
  }
}
