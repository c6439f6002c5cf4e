package rackwright.deflate

import chisel3._
import chisel3.util._

/** What a code for literals and lengths stands for. */
object TokenKind extends ChiselEnum {

  /** `wrong`: no code, one without a meaning, or one that reaches behind the end of the input. */
  val literal, length, end, wrong = Value
}

/** The symbols of the two codes (RFC 1951, section 3.2.5). */
object TokenFormat {

  /** The longest code. */
  val mostBits: Int = 15

  /** Symbols for literals and lengths in the fixed code; those that may be described; those for distances. */
  val literalSymbols: Int = 288
  val describedLiterals: Int = 286
  val distanceSymbols: Int = 32
  val describedDistances: Int = 30
  val endOfBlock: Int = 256

  /** The most bits behind a code, and of a code with them. */
  val lengthExtra: Int = 5
  val distanceExtra: Int = 13
  val lengthReach: Int = mostBits + lengthExtra
  val distanceReach: Int = mostBits + distanceExtra

  val lengthCodes: Int = 29
  val shortest: Int = 3
  val longest: Int = 258

  /** Bits behind the code of length number `index`, counted from symbol 257 on. */
  def lengthExtraBits(index: UInt): UInt =
    Mux(index < 8.U || index === (lengthCodes - 1).U, 0.U, (index >> 2) - 1.U)(2, 0)

  /** Bits behind the code of a distance. */
  def distanceExtraBits(symbol: UInt): UInt = Mux(symbol < 2.U, 0.U, (symbol >> 1) - 1.U)(3, 0)

  /** The length of number `index`, of which `bits` holds the bits behind the code, and others above them. */
  def length(index: UInt, bits: UInt): UInt = {
    val extra = lengthExtraBits(index)
    val value = ((4.U(3.W) | index(1, 0)) << extra) | (bits & mask(extra, lengthExtra))
    Mux(index === (lengthCodes - 1).U, longest.U, Mux(index < 8.U, index, value) + 3.U)(8, 0)
  }

  /** The distance of `symbol`, of which `bits` holds the bits behind the code, and others above them. */
  def distance(symbol: UInt, bits: UInt): UInt = {
    val extra = distanceExtraBits(symbol)
    val value = ((2.U(2.W) | symbol(0)) << extra) | (bits & mask(extra, distanceExtra))
    (Mux(symbol < 2.U, symbol, value) + 1.U)(15, 0)
  }

  /** The number of a length, from `rest`, which is three less; the bits behind its code are the low ones of `rest`. */
  def lengthIndex(rest: UInt): UInt = {
    val extra = Mux(rest < 8.U, 0.U, Log2(rest) - 2.U)(2, 0)
    Mux(rest === (longest - shortest).U, (lengthCodes - 1).U, Cat(extra, 0.U(2.W)) +& (rest >> extra)(2, 0))(4, 0)
  }

  /** The symbol of a distance, from `rest`, which is one less; the bits behind its code are the low ones of `rest`. */
  def distanceSymbol(rest: UInt): UInt = {
    val extra = Mux(rest < 4.U, 0.U, Log2(rest) - 1.U)(3, 0)
    (Cat(extra, 0.U(1.W)) +& (rest >> extra)(1, 0))(4, 0)
  }

  private def mask(count: UInt, most: Int): UInt = VecInit.tabulate(most)(i => count > i.U).asUInt

  /** The entry of symbol `symbol` for literals and lengths. */
  def literalEntry(symbol: UInt): LiteralEntry = {
    val entry = Wire(new LiteralEntry)
    val index = symbol - (endOfBlock + 1).U
    entry.kind := Mux(
      symbol < endOfBlock.U,
      TokenKind.literal,
      Mux(symbol === endOfBlock.U, TokenKind.end, Mux(symbol < describedLiterals.U, TokenKind.length, TokenKind.wrong))
    )
    entry.value := Mux(symbol < endOfBlock.U, symbol, index)(7, 0)
    entry.extra := Mux(entry.kind === TokenKind.length, lengthExtraBits(index(4, 0)), 0.U)
    entry
  }

  /** The entry of symbol `symbol` for distances. */
  def distanceEntry(symbol: UInt): DistanceEntry = {
    val entry = Wire(new DistanceEntry)
    entry.wrong := symbol >= describedDistances.U
    entry.value := symbol
    entry.extra := distanceExtraBits(symbol)
    entry
  }

  /** Lengths of the fixed codes (RFC 1951, section 3.2.6). */
  val fixedLiterals: Seq[Int] =
    Seq.tabulate(literalSymbols)(s => if (s < 144) 8 else if (s < 256) 9 else if (s < 280) 7 else 8)
  val fixedDistances: Seq[Int] = Seq.fill(distanceSymbols)(5)
}

/** A symbol for literals and lengths: a byte, or a number of a length; and the bits behind its code. */
class LiteralEntry extends Bundle {
  val kind = TokenKind()
  val value = UInt(8.W)
  val extra = UInt(3.W)
}

/** A symbol for distances. */
class DistanceEntry extends Bundle {
  val wrong = Bool()
  val value = UInt(5.W)
  val extra = UInt(4.W)
}
