package rackwright.deflate.encode

import chisel3.util._

import rackwright.compression.{BlockParams, StreamSizes}
import rackwright.deflate.{TokenFormat, Wrapper}
import rackwright.lz77.encode.EncoderParams
import rackwright.operation.Setting

/** What a user chooses for a DEFLATE compressor.
  *
  * @param encoder
  *   sizes of the LZ77 encoder; its history is at most the 32 KiB that the format reaches.
  * @param blockKib
  *   KiB of input that a block stands for, at most: a power of two, 4 to 32.
  * @param stream
  *   ports, operations that may wait, and input in pieces.
  */
case class DeflateCompressorParams(
    encoder: EncoderParams =
      EncoderParams(historyKib = 32, hashLog2 = 15, hashWays = 2, hashBanks = 32, literalKib = 1),
    blockKib: Int = 32,
    stream: StreamSizes = StreamSizes()
) extends BlockParams {
  def blockMost: Int = 32
  require(encoder.historyKib <= 32, s"history-kib is a power of two from 2 to 32, not ${encoder.historyKib}")

  def chunkBytes: Int = DeflateCompressorParams.chunkBytes

  /** Bits of how often a symbol occurs in a block: its bytes and the end of the block. */
  val countBits: Int = log2Ceil(blockBytes + 2)

  /** Tokens that a block holds; one that is full of them is closed early. */
  val tokensMost: Int = blockBytes / 8
  val tokenBits: Int = log2Ceil(tokensMost + 1)

  /** Blocks under way: one is gathered, one gets its codes, one is written. */
  val slots: Int = 3

  /** Input that is kept: these blocks, and what the encoder looks ahead. */
  val keptBytes: Int = 4 * blockBytes

  /** FORMAT is one of [[Wrapper]]. */
  val format: Setting = Setting("format", 6, Wrapper.bits, Wrapper.raw, Wrapper.meaning)
  def settings: Seq[Setting] = Seq(maxOffset, hashTableLog2, format) ++ streamingSettings
}

/** What is fixed by the structure of the unit. */
object DeflateCompressorParams {

  /** The longest words of codes for literals, lengths and distances: shorter than the format allows, so that four
    * literals and a match fit in a string of bits. And of the code that describes them, as the format has it.
    */
  val mostBits: Int = 12
  val mostDescribingBits: Int = 7

  /** Literals that a token is written with in one cycle. */
  val lanes: Int = rackwright.entropy.huffman.CountedLiterals.lanes

  /** The longest string of bits: a length and a distance with what follows their codes, and literals. */
  val stringBits: Int =
    2 * mostBits + TokenFormat.lengthExtra + TokenFormat.distanceExtra + lanes * mostBits

  /** Bytes of output per cycle. */
  val chunkBytes: Int = 16
}
