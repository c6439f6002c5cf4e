package example

import rackwright.unit.{HardwareUnit, Parameter, ParameterValues, UnitDescription}

/** What elaboration knows of the unit: its name, its parameters, and how to build it. */
object PopulationCountUnit extends UnitDescription {
  val name: String = "population-count"
  val summary: String = "Counts the one bits of a buffer in memory."
  val status: String = "ready"
  val parameters: Seq[Parameter] = Seq.empty

  def build(values: ParameterValues): HardwareUnit = new PopulationCount
}
