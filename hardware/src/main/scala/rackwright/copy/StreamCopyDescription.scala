package rackwright.copy

import rackwright.unit.{HardwareUnit, Parameter, ParameterValues, UnitDescription}

/** The copy unit for elaboration. */
object StreamCopyDescription extends UnitDescription {
  val name: String = "stream-copy"
  val summary: String = "Copies a range of memory of any alignment and length, one beat per cycle."
  val status: String = "ready"

  val parameters: Seq[Parameter] = Seq(
    Parameter.choice("port-bytes", 32, Seq(16, 32), "bytes per beat of the memory ports"),
    Parameter.choice("stream-bytes", 32, Seq(16, 32, 64), "most bytes moved in a cycle between the ports"),
    Parameter.powerOfTwo("outstanding", 64, 4, 64, "beats outstanding on each port"),
    Parameter.integer("command-queue", 4, 1 to 8, "operations that may wait for the unit")
  )

  def build(values: ParameterValues): HardwareUnit = new StreamCopy(
    Params(
      values.int("port-bytes"),
      values.int("stream-bytes"),
      values.int("outstanding"),
      values.int("command-queue")
    )
  )
}
