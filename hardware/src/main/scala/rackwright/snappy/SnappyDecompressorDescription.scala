package rackwright.snappy

import rackwright.contract.HardwareUnit
import rackwright.elaborate.{Parameter, ParameterValues, UnitDescription}

/** The Snappy decompressor for elaboration. */
object SnappyDecompressorDescription extends UnitDescription {
  val name: String = "snappy-decompress"
  val summary: String = "Decompresses a Snappy stream, two elements or up to one beat per cycle."
  val status: String = "ready"

  val parameters: Seq[Parameter] = Seq(
    Parameter.choice("port-bytes", 32, Seq(16, 32), "bytes per beat of the memory ports"),
    Parameter.powerOfTwo("history-kib", 64, 2, 64, "KiB of output kept on chip; copies from farther back read memory"),
    Parameter.choice("elements-per-cycle", 2, Seq(1, 2), "elements decoded and executed per cycle"),
    Parameter.powerOfTwo("lookahead", 256, 16, 256, "elements that may wait between decoding and execution"),
    Parameter.powerOfTwo("outstanding", 64, 4, 64, "beats outstanding on each port"),
    Parameter.integer("command-queue", 4, 1 to 8, "operations that may wait for the unit")
  )

  def build(values: ParameterValues): HardwareUnit = new SnappyDecompressor(
    SnappyDecompressorParams(
      historyKib = values.int("history-kib"),
      elementsPerCycle = values.int("elements-per-cycle"),
      lookahead = values.int("lookahead"),
      portBytes = values.int("port-bytes"),
      outstanding = values.int("outstanding"),
      commandQueue = values.int("command-queue")
    )
  )
}
