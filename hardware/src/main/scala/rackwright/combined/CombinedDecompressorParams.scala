package rackwright.combined

import rackwright.compression.{DecompressorParams, StreamSizes}
import rackwright.deflate.decode.DeflateDecompressorParams
import rackwright.lz77.decode.DecoderParams
import rackwright.operation.Setting
import rackwright.snappy.SnappyDecompressorParams
import rackwright.zstd.decode.ZstdDecompressorParams

/** The parameters of a decompressor of several formats.
  *
  * @param algorithms
  *   the formats, in the order of their codes: two or more.
  * @param historyKib
  *   see [[DecompressorParams]].
  * @param speculation
  *   bits of ZStd's Huffman streams and of DEFLATE that are decoded per cycle: a power of two, 4 to 32, at most
  *   `portBytes`.
  * @param lookahead
  *   see [[DecompressorParams]].
  * @param stream
  *   ports, operations that may wait, and input in pieces, of other formats than Snappy.
  */
case class CombinedDecompressorParams(
    algorithms: Seq[Algorithm] = Algorithm.all,
    historyKib: Int = 64,
    speculation: Int = 16,
    lookahead: Int = 256,
    stream: StreamSizes = StreamSizes()
) extends DecompressorParams {
  Algorithm.check(algorithms)

  /** The parameters of the boxes of each format. */
  val snappy: SnappyDecompressorParams =
    SnappyDecompressorParams(historyKib, 2, lookahead, stream.whole)
  val zstd: ZstdDecompressorParams = ZstdDecompressorParams(historyKib, speculation, lookahead, stream)

  /** The boxes see as much of the history as the format reaches. */
  val deflate: DeflateDecompressorParams = DeflateDecompressorParams(
    historyKib.min(CombinedCompressorParams.deflateReach / 1024),
    speculation,
    lookahead,
    stream
  )

  /** The same by format. */
  def formats: Seq[DecompressorParams] = algorithms.map {
    case Algorithm.Snappy => snappy
    case Algorithm.Zstd => zstd
    case Algorithm.Deflate => deflate
  }

  /** The LZ77 decoder: with the maximum of each parameter over the formats. */
  val decoder: DecoderParams = DecoderParams(
    port,
    historyBytes = historyKib * 1024,
    lanes = 2,
    lookahead = lookahead,
    literalBytes = formats.map(_.decoder.literalBytes).max,
    literalReserve = formats.map(_.decoder.literalReserve).max,
    literalsAhead = true,
    dictionary = formats.exists(_.decoder.dictionary)
  )

  override def readers: Int = formats.map(_.readers).sum

  /** ALGORITHM is one of the codes of [[Algorithm]]: the format and its wrapper. */
  val algorithm: Setting = Algorithm.setting(algorithms)

  /** Those of ZStd in addition, if it is one of the formats. */
  val settings: Seq[Setting] =
    (onChipHistory +: (if (algorithms.contains(Algorithm.Zstd)) zstd.dictionarySettings else Seq()) :+ algorithm) ++
      streamingSettings
}
