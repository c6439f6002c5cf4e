package rackwright.deflate.encode

import chisel3.util._

import rackwright.compression.{BlockParams, StreamSizes}
import rackwright.deflate.{TokenFormat, Wrapper}
import rackwright.lz77.encode.EncoderParams
import rackwright.operation.Setting

/** The parameters of a DEFLATE compressor that its user chooses.
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

  /** Width of the number of occurrences of a symbol in a block: at most its bytes and the end of the block. */
  val countBits: Int = log2Ceil(blockBytes + 2)

  /** The most tokens of a block; a block that reaches it is closed early. */
  val tokensMost: Int = blockBytes / 8
  val tokenBits: Int = log2Ceil(tokensMost + 1)

  /** Blocks in flight: one is collected, one gets its codes, one is written. */
  val slots: Int = 3

  /** Size of the input ring: these blocks, and the lookahead of the encoder. */
  val keptBytes: Int = 4 * blockBytes

  /** FORMAT, one of [[Wrapper]]. */
  val format: Setting = Setting("format", 6, Wrapper.bits, Wrapper.raw, Wrapper.meaning)
  def settings: Seq[Setting] = Seq(maxOffset, hashTableLog2, format) ++ streamingSettings
}

/** Constants of the structure. */
object DeflateCompressorParams {

  /** The longest literal, length and distance codes: shorter than the format allows, so that four literals and a match
    * fit in a bit string. And the longest code length code, which is that of the format.
    */
  val mostBits: Int = 12
  val mostDescribingBits: Int = 7

  /** Literals of a token that are written in one cycle. */
  val lanes: Int = rackwright.entropy.huffman.CountedLiterals.lanes

  /** The longest bit string: a length and a distance with their extra bits, and literals. */
  val stringBits: Int =
    2 * mostBits + TokenFormat.lengthExtra + TokenFormat.distanceExtra + lanes * mostBits

  /** Bytes of output per cycle. */
  val chunkBytes: Int = 16
}
