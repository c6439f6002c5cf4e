package rackwright.zstd.encode

import rackwright.compression.{CompressorArguments, StreamArguments}
import rackwright.unit.{HardwareUnit, Parameter, ParameterValues, UnitDescription}

/** Describes the ZStd compressor for elaboration. */
object ZstdCompressorDescription extends UnitDescription {
  val name: String = "zstd-compress"
  val summary: String = "Compresses a buffer to a Zstandard frame (RFC 8878)."
  val status: String = "ready"

  private val defaults = ZstdCompressorParams().encoder

  val parameters: Seq[Parameter] =
    Seq(StreamArguments.portBytes) ++ CompressorArguments.encoder(defaults) ++
      Seq(CompressorArguments.blockKib(64)) ++ StreamArguments.streams :+ StreamArguments.streaming

  def build(values: ParameterValues): HardwareUnit = new ZstdCompressor(
    ZstdCompressorParams(
      CompressorArguments.encoderOf(values, defaults),
      blockKib = values.int("block-kib"),
      stream = StreamArguments.sizesOf(values)
    )
  )
}
