package rackwright.deflate.decode

import chisel3._
import chisel3.util._

import rackwright.deflate.TokenKind
import rackwright.deflate.TokenFormat._

/** The bits at which codes may start, followed by those that the last code may extend to.
  *
  * @param bits
  *   bits in which codes begin.
  */
class TokenChunk(val bits: Int) extends Bundle {

  /** The first bit is the lowest. */
  val window = UInt((bits + distanceReach - 1).W)

  /** Number of bits of the window that belong to the input. */
  val available = UInt(log2Ceil(bits + distanceReach).W)

  /** The longest code that may start at bit `i`, with its first bit highest. */
  def code(i: Int): UInt = Reverse(window(i + mostBits - 1, i))
}

/** The literal/length code at a bit position, if one starts there. */
class LiteralToken extends Bundle {
  val kind = TokenKind()

  /** Bits of the code with its extra bits. */
  val step = UInt(log2Ceil(lengthReach + 1).W)
  val value = UInt(8.W)
}

/** The distance code at a bit position, if one starts there. */
class DistanceToken extends Bundle {
  val wrong = Bool()
  val step = UInt(log2Ceil(distanceReach + 1).W)
  val value = UInt(5.W)
}

/** A chunk with the candidate codes at each of its bits. */
class MeasuredChunk(val bits: Int) extends Bundle {
  val window = UInt((bits + distanceReach - 1).W)
  val literals = Vec(bits, new LiteralToken)
  val distances = Vec(bits, new DistanceToken)
}

/** A chunk in which the starts of codes are known, one bit per position. No code starts after the end of the block. */
class MarkedChunk(val bits: Int) extends Bundle {
  val measured = new MeasuredChunk(bits)
  val literals = UInt(bits.W)
  val lengths = UInt(bits.W)
  val distances = UInt(bits.W)

  /** The block ends in this chunk, or an invalid code was found. */
  val stops = Bool()
  val wrong = Bool()

  /** The bit after the end, relative to the start of the chunk. */
  val end = UInt(log2Ceil(bits + mostBits + 1).W)
}

/** Pipeline registers whose stages all advance or all stall. */
class TokenStages(advance: Bool, clear: Bool) {

  /** `from`, one stage later. */
  def next[T <: Data](from: Valid[T]): Valid[T] = {
    val register = Wire(Valid(chiselTypeOf(from.bits)))
    register.valid := RegEnable(from.valid && !clear, false.B, advance || clear)
    register.bits := RegEnable(from.bits, advance && from.valid)
    register
  }

  /** `value`, which accompanies `from`, one stage later. */
  def next[T <: Data](from: Valid[_ <: Data], value: T): T = RegEnable(value, advance && from.valid)
}
