package rackwright.zstd

import rackwright.contract.HardwareUnit
import rackwright.elaborate.{Parameter, ParameterValues, UnitDescription}

/** The ZStd decompressor for elaboration. */
object ZstdDecompressorDescription extends UnitDescription {
  val name: String = "zstd-decompress"
  val summary: String = "Decompresses Zstandard frames (RFC 8878), with their checksums."
  val status: String = "ready"

  val parameters: Seq[Parameter] = Seq(
    Parameter.choice("port-bytes", 32, Seq(16, 32), "bytes per beat of the memory ports"),
    Parameter.powerOfTwo("history-kib", 64, 2, 64, "KiB of output kept on chip; copies from farther back read memory"),
    Parameter.powerOfTwo("speculation", 16, 1, 32, "bits of a Huffman stream decoded per cycle, up to port-bytes"),
    Parameter.powerOfTwo("lookahead", 256, 16, 256, "parts of sequences that may wait between decoding and execution"),
    Parameter.powerOfTwo("outstanding", 64, 4, 64, "beats outstanding on each port"),
    Parameter.integer("command-queue", 4, 1 to 8, "operations that may wait for the unit")
  )

  def build(values: ParameterValues): HardwareUnit = new ZstdDecompressor(
    ZstdDecompressorParams(
      historyKib = values.int("history-kib"),
      speculation = values.int("speculation"),
      lookahead = values.int("lookahead"),
      portBytes = values.int("port-bytes"),
      outstanding = values.int("outstanding"),
      commandQueue = values.int("command-queue")
    )
  )
}
