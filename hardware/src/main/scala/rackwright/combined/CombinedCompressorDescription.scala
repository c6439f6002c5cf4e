package rackwright.combined

import rackwright.compression.{CompressorArguments, StreamArguments}
import rackwright.unit.{HardwareUnit, Parameter, ParameterValues, UnitDescription}

/** The compressor of several formats for elaboration. */
object CombinedCompressorDescription extends UnitDescription {
  val name: String = "combined-compress"
  val summary: String = "Compresses a buffer to Snappy, Zstandard or DEFLATE, as each operation asks."
  val status: String = "ready, without dictionaries"
  private val defaults = CombinedCompressorParams().encoder
  private val words = Algorithm.combinations.map(Algorithm.word)

  val parameters: Seq[Parameter] =
    Seq(
      Parameter.word("algorithms", words.head, words, "the formats"),
      StreamArguments.portBytes
    ) ++ CompressorArguments.encoder(defaults) ++ Seq(
      CompressorArguments.blockKib(32)
    ) ++ StreamArguments.streams :+ StreamArguments.streaming

  def build(values: ParameterValues): HardwareUnit = new CombinedCompressor(
    CombinedCompressorParams(
      Algorithm.combinations(words.indexOf(values.word("algorithms"))),
      CompressorArguments.encoderOf(values, defaults),
      blockKib = values.int("block-kib"),
      stream = StreamArguments.sizesOf(values)
    )
  )
}
