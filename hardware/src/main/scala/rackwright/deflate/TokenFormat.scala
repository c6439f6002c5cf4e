package rackwright.deflate

import chisel3._
import chisel3.util._

/** What a code of the literal/length alphabet stands for. */
object TokenKind extends ChiselEnum {

  /** `wrong`: a bit pattern without a code, a reserved symbol, or a code that extends beyond the end of the input. */
  val literal, length, end, wrong = Value
}

/** The alphabets of the two codes (RFC 1951, section 3.2.5). */
object TokenFormat {

  /** The longest code. */
  val mostBits: Int = 15

  /** Sizes of the alphabets: literal/length symbols of the fixed code; those that a block can describe; distance
    * symbols.
    */
  val literalSymbols: Int = 288
  val describedLiterals: Int = 286
  val distanceSymbols: Int = 32
  val describedDistances: Int = 30
  val endOfBlock: Int = 256

  /** The most extra bits of a code, and the most bits of a code with its extra bits. */
  val lengthExtra: Int = 5
  val distanceExtra: Int = 13
  val lengthReach: Int = mostBits + lengthExtra
  val distanceReach: Int = mostBits + distanceExtra

  val lengthCodes: Int = 29
  val shortest: Int = 3
  val longest: Int = 258

  /** Number of extra bits of length index `index`, which counts from symbol 257. */
  def lengthExtraBits(index: UInt): UInt =
    Mux(index < 8.U || index === (lengthCodes - 1).U, 0.U, (index >> 2) - 1.U)(2, 0)

  /** Number of extra bits of a distance symbol. */
  def distanceExtraBits(symbol: UInt): UInt = Mux(symbol < 2.U, 0.U, (symbol >> 1) - 1.U)(3, 0)

  /** The length of index `index`. The extra bits are the low bits of `bits`; higher bits are ignored. */
  def length(index: UInt, bits: UInt): UInt = {
    val extra = lengthExtraBits(index)
    val value = ((4.U(3.W) | index(1, 0)) << extra) | (bits & mask(extra, lengthExtra))
    Mux(index === (lengthCodes - 1).U, longest.U, Mux(index < 8.U, index, value) + 3.U)(8, 0)
  }

  /** The distance of `symbol`. The extra bits are the low bits of `bits`; higher bits are ignored. */
  def distance(symbol: UInt, bits: UInt): UInt = {
    val extra = distanceExtraBits(symbol)
    val value = ((2.U(2.W) | symbol(0)) << extra) | (bits & mask(extra, distanceExtra))
    (Mux(symbol < 2.U, symbol, value) + 1.U)(15, 0)
  }

  /** The index of a length, from `rest`, the length minus 3; the extra bits are the low bits of `rest`. */
  def lengthIndex(rest: UInt): UInt = {
    val extra = Mux(rest < 8.U, 0.U, Log2(rest) - 2.U)(2, 0)
    Mux(rest === (longest - shortest).U, (lengthCodes - 1).U, Cat(extra, 0.U(2.W)) +& (rest >> extra)(2, 0))(4, 0)
  }

  /** The symbol of a distance, from `rest`, the distance minus 1; the extra bits are the low bits of `rest`. */
  def distanceSymbol(rest: UInt): UInt = {
    val extra = Mux(rest < 4.U, 0.U, Log2(rest) - 1.U)(3, 0)
    (Cat(extra, 0.U(1.W)) +& (rest >> extra)(1, 0))(4, 0)
  }

  private def mask(count: UInt, most: Int): UInt = VecInit.tabulate(most)(i => count > i.U).asUInt

  /** The table entry of a literal/length symbol. */
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

  /** The table entry of a distance symbol. */
  def distanceEntry(symbol: UInt): DistanceEntry = {
    val entry = Wire(new DistanceEntry)
    entry.wrong := symbol >= describedDistances.U
    entry.value := symbol
    entry.extra := distanceExtraBits(symbol)
    entry
  }

  /** Code lengths of the fixed code (RFC 1951, section 3.2.6). */
  val fixedLiterals: Seq[Int] =
    Seq.tabulate(literalSymbols)(s => if (s < 144) 8 else if (s < 256) 9 else if (s < 280) 7 else 8)
  val fixedDistances: Seq[Int] = Seq.fill(distanceSymbols)(5)
}

/** A literal/length symbol: a byte or a length index, and the number of extra bits. */
class LiteralEntry extends Bundle {
  val kind = TokenKind()
  val value = UInt(8.W)
  val extra = UInt(3.W)
}

/** A distance symbol. */
class DistanceEntry extends Bundle {
  val wrong = Bool()
  val value = UInt(5.W)
  val extra = UInt(4.W)
}
