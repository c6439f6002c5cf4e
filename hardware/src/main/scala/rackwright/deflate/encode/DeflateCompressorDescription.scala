package rackwright.deflate.encode

import rackwright.compression.{CompressorArguments, StreamArguments}
import rackwright.unit.{HardwareUnit, Parameter, ParameterValues, UnitDescription}

/** Describes the DEFLATE compressor for elaboration. */
object DeflateCompressorDescription extends UnitDescription {
  val name: String = "deflate-compress"
  val summary: String = "Compresses a buffer to DEFLATE (RFC 1951), zlib (RFC 1950) or gzip (RFC 1952)."
  val status: String = "ready, without preset dictionaries"

  private val defaults = DeflateCompressorParams().encoder

  val parameters: Seq[Parameter] =
    Seq(StreamArguments.portBytes) ++ CompressorArguments.encoder(defaults, historyMost = 32) ++
      Seq(CompressorArguments.blockKib(32)) ++ StreamArguments.streams :+ StreamArguments.streaming

  def build(values: ParameterValues): HardwareUnit = new DeflateCompressor(
    DeflateCompressorParams(
      CompressorArguments.encoderOf(values, defaults),
      blockKib = values.int("block-kib"),
      stream = StreamArguments.sizesOf(values)
    )
  )
}
