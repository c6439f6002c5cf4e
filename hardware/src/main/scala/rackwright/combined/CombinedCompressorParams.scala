package rackwright.combined

import rackwright.compression.{CompressorParams, StreamSizes}
import rackwright.deflate.encode.DeflateCompressorParams
import rackwright.lz77.encode.EncoderParams
import rackwright.operation.Setting
import rackwright.snappy.SnappyCompressorParams
import rackwright.zstd.encode.ZstdCompressorParams

/** The parameters of a compressor of several formats.
  *
  * @param algorithms
  *   the formats, in the order of their codes: two or more.
  * @param encoder
  *   sizes of the LZ77 encoder that they share.
  * @param blockKib
  *   maximum KiB of input of a block of ZStd or DEFLATE: a power of two, 4 to 32.
  * @param stream
  *   ports, operations that may wait, and input in pieces.
  */
case class CombinedCompressorParams(
    algorithms: Seq[Algorithm] = Algorithm.all,
    encoder: EncoderParams = ZstdCompressorParams().encoder.copy(dictionary = false),
    blockKib: Int = 32,
    stream: StreamSizes = StreamSizes()
) extends CompressorParams {
  Algorithm.check(algorithms)
  require(!encoder.dictionary, "the compressor of several formats takes no dictionaries")

  /** The parameters of the boxes of each format. */
  val snappy: SnappyCompressorParams = SnappyCompressorParams(encoder, stream.whole)
  val zstd: ZstdCompressorParams = ZstdCompressorParams(encoder, blockKib, stream.whole)

  /** The boxes see as much of the encoder's history as the format reaches. */
  val deflate: DeflateCompressorParams = DeflateCompressorParams(
    encoder.copy(historyKib = encoder.historyKib.min(CombinedCompressorParams.deflateReach / 1024)),
    blockKib,
    stream.whole
  )

  /** The same by format. */
  def formats: Seq[CompressorParams] = algorithms.map {
    case Algorithm.Snappy => snappy
    case Algorithm.Zstd => zstd
    case Algorithm.Deflate => deflate
  }
  def literalReadBytes: Int = formats.map(_.literalReadBytes).max
  def chunkBytes: Int = formats.map(_.chunkBytes).max

  /** ALGORITHM is one of the codes of [[Algorithm]]: the format and its wrapper. */
  val algorithm: Setting = Algorithm.setting(algorithms)
  def settings: Seq[Setting] = Seq(maxOffset, hashTableLog2, algorithm) ++ streamingSettings
}

/** Constants of the formats. */
object CombinedCompressorParams {

  /** Bytes that a match of DEFLATE reaches back (RFC 1951, section 2). */
  val deflateReach: Int = 32 * 1024
}
