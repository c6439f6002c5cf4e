package rackwright.crossbar

import rackwright.unit.{HardwareUnit, Parameter, ParameterValues, UnitDescription}

/** The crossbar for elaboration. */
object CrossbarDescription extends UnitDescription {
  val name: String = "crossbar"
  val summary: String = "Carries packets from each of its ports to any other, one at a time for each port."
  val status: String = "ready, by itself"

  val parameters: Seq[Parameter] = Seq(Parameter.integer("ports", 4, 2 to 16, "ports that send and receive packets"))

  def build(values: ParameterValues): HardwareUnit = new Crossbar(values.int("ports"))
}
