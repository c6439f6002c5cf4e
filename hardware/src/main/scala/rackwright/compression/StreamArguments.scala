package rackwright.compression

import rackwright.unit.{Parameter, ParameterValues}

/** The parameters of elaboration behind [[StreamSizes]]. */
object StreamArguments {
  val portBytes: Parameter = Parameter.choice("port-bytes", 32, Seq(16, 32), "bytes per beat of the memory ports")

  val streams: Seq[Parameter] = Seq(
    Parameter.powerOfTwo("outstanding", 64, 4, 64, "beats outstanding on each port"),
    Parameter.integer("command-queue", 4, 1 to 8, "operations that may wait for the unit")
  )

  /** Of units that can take their input in pieces. */
  val streaming: Parameter =
    Parameter.choice("streaming", 0, Seq(0, 1), "1: the input of an operation may come in pieces")

  /** Their values, for a unit with [[streaming]] or without. */
  def sizesOf(values: ParameterValues, streams: Boolean = true): StreamSizes = StreamSizes(
    values.int("port-bytes"),
    values.int("outstanding"),
    values.int("command-queue"),
    streams && values.int("streaming") == 1
  )
}
