package rackwright.deflate.decode

import rackwright.compression.{DecompressorArguments, StreamArguments}
import rackwright.unit.{HardwareUnit, Parameter, ParameterValues, UnitDescription}

/** Describes the DEFLATE decompressor for elaboration. */
object DeflateDecompressorDescription extends UnitDescription {
  val name: String = "deflate-decompress"
  val summary: String = "Decompresses DEFLATE (RFC 1951), zlib (RFC 1950) and gzip (RFC 1952), with their checksums."
  val status: String = "ready, without preset dictionaries"

  val parameters: Seq[Parameter] = DecompressorArguments(
    rate = Parameter.powerOfTwo("speculation", 16, 4, 32, "bits decoded per cycle, up to port-bytes"),
    waiting = "segments",
    historyMost = 32
  ) :+ StreamArguments.streaming

  def build(values: ParameterValues): HardwareUnit = new DeflateDecompressor(
    DeflateDecompressorParams(
      historyKib = values.int("history-kib"),
      speculation = values.int("speculation"),
      lookahead = values.int("lookahead"),
      stream = StreamArguments.sizesOf(values)
    )
  )
}
