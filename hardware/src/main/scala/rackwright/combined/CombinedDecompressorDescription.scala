package rackwright.combined

import rackwright.compression.{DecompressorArguments, StreamArguments}
import rackwright.unit.{HardwareUnit, Parameter, ParameterValues, UnitDescription}

/** The decompressor of several formats for elaboration. */
object CombinedDecompressorDescription extends UnitDescription {
  val name: String = "combined-decompress"
  val summary: String = "Decompresses Snappy, Zstandard, DEFLATE, zlib or gzip, as each operation asks."
  val status: String = "ready, without preset dictionaries of DEFLATE"
  private val words = Algorithm.combinations.map(Algorithm.word)

  val parameters: Seq[Parameter] =
    Parameter.word("algorithms", words.head, words, "the formats") +: DecompressorArguments(
      rate = Parameter.powerOfTwo("speculation", 16, 4, 32, "bits of codes decoded per cycle, up to port-bytes"),
      waiting = "segments"
    ) :+ StreamArguments.streaming

  def build(values: ParameterValues): HardwareUnit = new CombinedDecompressor(
    CombinedDecompressorParams(
      Algorithm.combinations(words.indexOf(values.word("algorithms"))),
      historyKib = values.int("history-kib"),
      speculation = values.int("speculation"),
      lookahead = values.int("lookahead"),
      stream = StreamArguments.sizesOf(values)
    )
  )
}
