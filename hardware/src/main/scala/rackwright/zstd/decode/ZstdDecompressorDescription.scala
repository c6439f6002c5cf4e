package rackwright.zstd.decode

import rackwright.compression.{DecompressorArguments, StreamArguments}
import rackwright.unit.{HardwareUnit, Parameter, ParameterValues, UnitDescription}

/** Describes the ZStd decompressor for elaboration. */
object ZstdDecompressorDescription extends UnitDescription {
  val name: String = "zstd-decompress"
  val summary: String = "Decompresses Zstandard frames (RFC 8878), with their checksums."
  val status: String = "ready"

  val parameters: Seq[Parameter] = DecompressorArguments(
    rate =
      Parameter.powerOfTwo("speculation", 16, 1, 32, "bits of a Huffman stream decoded per cycle, up to port-bytes"),
    waiting = "parts of sequences"
  ) :+ StreamArguments.streaming

  def build(values: ParameterValues): HardwareUnit = new ZstdDecompressor(
    ZstdDecompressorParams(
      historyKib = values.int("history-kib"),
      speculation = values.int("speculation"),
      lookahead = values.int("lookahead"),
      stream = StreamArguments.sizesOf(values)
    )
  )
}
