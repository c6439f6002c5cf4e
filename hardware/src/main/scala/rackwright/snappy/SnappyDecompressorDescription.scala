package rackwright.snappy

import rackwright.compression.{DecompressorArguments, StreamArguments}
import rackwright.unit.{HardwareUnit, Parameter, ParameterValues, UnitDescription}

/** The Snappy decompressor for elaboration. */
object SnappyDecompressorDescription extends UnitDescription {
  val name: String = "snappy-decompress"
  val summary: String = "Decompresses a Snappy stream, two elements or up to one beat per cycle."
  val status: String = "ready"

  val parameters: Seq[Parameter] = DecompressorArguments(
    rate = Parameter.choice("elements-per-cycle", 2, Seq(1, 2), "elements decoded and executed per cycle"),
    waiting = "elements"
  )

  def build(values: ParameterValues): HardwareUnit = new SnappyDecompressor(
    SnappyDecompressorParams(
      historyKib = values.int("history-kib"),
      elementsPerCycle = values.int("elements-per-cycle"),
      lookahead = values.int("lookahead"),
      stream = StreamArguments.sizesOf(values, streams = false)
    )
  )
}
