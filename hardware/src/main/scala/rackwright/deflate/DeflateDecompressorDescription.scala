package rackwright.deflate

import rackwright.contract.HardwareUnit
import rackwright.elaborate.{Parameter, ParameterValues, UnitDescription}

/** The DEFLATE decompressor for elaboration. */
object DeflateDecompressorDescription extends UnitDescription {
  val name: String = "deflate-decompress"
  val summary: String = "Decompresses DEFLATE (RFC 1951), zlib (RFC 1950) and gzip (RFC 1952), with their checksums."
  val status: String = "ready, without preset dictionaries"

  val parameters: Seq[Parameter] = Seq(
    Parameter.choice("port-bytes", 32, Seq(16, 32), "bytes per beat of the memory ports"),
    Parameter.powerOfTwo("history-kib", 32, 2, 32, "KiB of output kept on chip; copies from farther back read memory"),
    Parameter.powerOfTwo("speculation", 16, 4, 32, "bits decoded per cycle, up to port-bytes"),
    Parameter.powerOfTwo("lookahead", 256, 16, 256, "segments that may wait between decoding and execution"),
    Parameter.powerOfTwo("outstanding", 64, 4, 64, "beats outstanding on each port"),
    Parameter.integer("command-queue", 4, 1 to 8, "operations that may wait for the unit")
  )

  def build(values: ParameterValues): HardwareUnit = new DeflateDecompressor(
    DeflateDecompressorParams(
      historyKib = values.int("history-kib"),
      speculation = values.int("speculation"),
      lookahead = values.int("lookahead"),
      portBytes = values.int("port-bytes"),
      outstanding = values.int("outstanding"),
      commandQueue = values.int("command-queue")
    )
  )
}
