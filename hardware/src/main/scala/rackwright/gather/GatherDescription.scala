package rackwright.gather

import rackwright.unit.{HardwareUnit, Parameter, ParameterValues, UnitDescription}

/** The gather unit for elaboration. */
object GatherDescription extends UnitDescription {
  val name: String = "gather"
  val summary: String = "Fetches elements of a table by a sequence of indices, many at a time, ahead of the program."
  val status: String = "ready"

  val parameters: Seq[Parameter] = Seq(
    Parameter.powerOfTwo("elements", 32, 8, 128, "elements asked for ahead of the program"),
    Parameter.powerOfTwo("index-beats", 8, 4, 32, "beats of 32 bytes of indices asked for ahead"),
    Parameter.integer("sequences", 4, 1 to 8, "sequences of indices that may wait"),
    Parameter.integer("command-queue", 4, 1 to 8, "commands that may wait")
  )

  def build(values: ParameterValues): HardwareUnit = new Gather(
    Params(values.int("elements"), values.int("index-beats"), values.int("sequences"), values.int("command-queue"))
  )
}
