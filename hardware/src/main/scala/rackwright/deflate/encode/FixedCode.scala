package rackwright.deflate.encode

import chisel3._
import chisel3.util._

import rackwright.deflate.TokenFormat
import rackwright.entropy.huffman.{CountedLiterals, HuffmanWord}

/** Code words of the fixed codes (RFC 1951, section 3.2.6). */
object FixedCode {

  /** The word of a literal/length symbol. */
  def literal(symbol: UInt): HuffmanWord = {
    val length = Mux(symbol < 144.U, 8.U, Mux(symbol < 256.U, 9.U, Mux(symbol < 280.U, 7.U, 8.U(4.W))))
    val code = Mux(
      symbol < 144.U,
      symbol +& 0x30.U,
      Mux(symbol < 256.U, symbol +& (0x190 - 144).U, Mux(symbol < 280.U, symbol - 256.U, symbol - (280 - 0xc0).U))
    )
    fixed(code, length)
  }

  /** The word of a distance symbol. */
  def distance(symbol: UInt): HuffmanWord = fixed(symbol, 5.U)

  /** Total size in bits of some literals, and of the end of a block. */
  def bits(literals: CountedLiterals): UInt = {
    val long = (0 until CountedLiterals.lanes).map { lane =>
      literals.count > lane.U && literal(literals.data(8 * lane + 7, 8 * lane)).length === 9.U
    }
    (literals.count << 3) +& PopCount(long)
  }
  val endBits: Int = 7

  /** Size in bits of a match of length index `index`, without the extra bits. */
  def matchBits(index: UInt): UInt =
    literal(index +& (TokenFormat.endOfBlock + 1).U).length +& distance(0.U).length

  private def fixed(code: UInt, length: UInt): HuffmanWord = {
    val most = DeflateCompressorParams.mostBits
    val word = Wire(new HuffmanWord(most))
    word.length := length
    word.code := Reverse((code.pad(most) << (most.U - length))(most - 1, 0))
    word
  }
}
