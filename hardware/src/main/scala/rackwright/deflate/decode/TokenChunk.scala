package rackwright.deflate.decode

import chisel3._
import chisel3.util._

import rackwright.deflate.TokenKind
import rackwright.deflate.TokenFormat._

/** Bits in which codes begin, and those behind them that the last one may reach.
  *
  * @param bits
  *   bits in which codes begin.
  */
class TokenChunk(val bits: Int) extends Bundle {

  /** The first bit lowest. */
  val window = UInt((bits + distanceReach - 1).W)

  /** How many bits of the window belong to the input. */
  val available = UInt(log2Ceil(bits + distanceReach).W)

  /** The longest code at bit `i`, the first bit highest. */
  def code(i: Int): UInt = Reverse(window(i + mostBits - 1, i))
}

/** What a code for literals and lengths at one bit would be. */
class LiteralToken extends Bundle {
  val kind = TokenKind()

  /** Bits of the code and of what is behind it. */
  val step = UInt(log2Ceil(lengthReach + 1).W)
  val value = UInt(8.W)
}

/** What a code for distances at one bit would be. */
class DistanceToken extends Bundle {
  val wrong = Bool()
  val step = UInt(log2Ceil(distanceReach + 1).W)
  val value = UInt(5.W)
}

/** A chunk, and for each of its bits what codes there would be. */
class MeasuredChunk(val bits: Int) extends Bundle {
  val window = UInt((bits + distanceReach - 1).W)
  val literals = Vec(bits, new LiteralToken)
  val distances = Vec(bits, new DistanceToken)
}

/** A chunk in which it is known what begins where: a bit per bit. Nothing begins behind what ends the block. */
class MarkedChunk(val bits: Int) extends Bundle {
  val measured = new MeasuredChunk(bits)
  val literals = UInt(bits.W)
  val lengths = UInt(bits.W)
  val distances = UInt(bits.W)

  /** The block ends here, or something is wrong. */
  val stops = Bool()
  val wrong = Bool()

  /** The bit behind the end, counted from the begin of the chunk. */
  val end = UInt(log2Ceil(bits + mostBits + 1).W)
}

/** Registers of a pipeline whose stages all move or all stand. */
class TokenStages(advance: Bool, clear: Bool) {

  /** `from` a stage later. */
  def next[T <: Data](from: Valid[T]): Valid[T] = {
    val register = Wire(Valid(chiselTypeOf(from.bits)))
    register.valid := RegEnable(from.valid && !clear, false.B, advance || clear)
    register.bits := RegEnable(from.bits, advance && from.valid)
    register
  }

  /** `value`, which goes with `from`, a stage later. */
  def next[T <: Data](from: Valid[_ <: Data], value: T): T = RegEnable(value, advance && from.valid)
}
