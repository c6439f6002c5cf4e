package rackwright.deflate

import chisel3.util._

import rackwright.compression.CompressorParams
import rackwright.lz77.{EncoderLiterals, EncoderParams}
import rackwright.rocc.Setting

/** What a user chooses for a DEFLATE compressor.
  *
  * @param encoder
  *   sizes of the LZ77 encoder; its history is at most the 32 KiB that the format reaches.
  * @param blockKib
  *   KiB of input that a block stands for, at most: a power of two, 4 to 32.
  * @param portBytes
  *   bytes per beat of both memory ports: 16 or 32.
  * @param outstanding
  *   beats outstanding per port: a power of two, 4 to 64.
  * @param commandQueue
  *   operations that may wait: 1 to 8.
  * @param streaming
  *   see [[rackwright.compression.StreamParams]].
  */
case class DeflateCompressorParams(
    encoder: EncoderParams =
      EncoderParams(historyKib = 32, hashLog2 = 15, hashWays = 2, hashBanks = 32, literalKib = 1),
    blockKib: Int = 32,
    portBytes: Int = 32,
    outstanding: Int = 64,
    commandQueue: Int = 4,
    override val streaming: Boolean = false
) extends CompressorParams {
  require(encoder.historyKib <= 32, s"history-kib is a power of two from 2 to 32, not ${encoder.historyKib}")
  require(
    isPow2(blockKib) && blockKib >= 4 && blockKib <= 32,
    s"block-kib is a power of two from 4 to 32, not $blockKib"
  )

  def literalReadBytes: Int = 8
  def chunkBytes: Int = DeflateCompressorParams.chunkBytes

  val blockBytes: Int = blockKib * 1024

  /** Bits of how often a symbol occurs in a block: its bytes and the end of the block. */
  val countBits: Int = log2Ceil(blockBytes + 2)

  /** A block is closed when it stands for so many bytes: one more sequence of the encoder would not be too much. */
  val blockLimit: Int = blockBytes - encoder.maxLiteralRun - (1 << EncoderParams.matchBits) -
    EncoderLiterals.reserve

  /** Tokens that a block holds; one that is full of them is closed early. */
  val tokensMost: Int = blockBytes / 8
  val tokenBits: Int = log2Ceil(tokensMost + 1)

  /** Blocks under way: one is gathered, one gets its codes, one is written. */
  val slots: Int = 3

  /** Input that is kept: these blocks, and what the encoder looks ahead. */
  val keptBytes: Int = 4 * blockBytes

  /** FORMAT is one of [[Wrapper]]. */
  val format: Setting = Setting("format", 6, Wrapper.bits, Wrapper.raw)
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
  val lanes: Int = rackwright.entropy.CountedLiterals.lanes

  /** The longest string of bits: a length and a distance with what follows their codes, and literals. */
  val stringBits: Int =
    2 * mostBits + TokenFormat.lengthExtra + TokenFormat.distanceExtra + lanes * mostBits

  /** Bytes of output per cycle. */
  val chunkBytes: Int = 16
}
