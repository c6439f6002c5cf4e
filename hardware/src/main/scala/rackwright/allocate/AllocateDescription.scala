package rackwright.allocate

import rackwright.unit.{HardwareUnit, Parameter, ParameterValues, UnitDescription}

/** The allocator for elaboration. */
object AllocateDescription extends UnitDescription {
  val name: String = "allocate"
  val summary: String = "Allocates and frees memory of a heap, in bounded time; free neighbours are joined at once."
  val status: String = "ready"

  val parameters: Seq[Parameter] = Seq(
    Parameter.choice(
      "kept-grains",
      32,
      Seq(8, 16, 32, 63),
      "blocks of at most so many times 16 bytes are kept for the next call"
    ),
    Parameter.powerOfTwo("kept", 8, 2, 16, "the most blocks of one size that are kept"),
    Parameter.powerOfTwo("recent", 64, 16, 256, "blocks given last whose sizes are remembered"),
    Parameter.integer("command-queue", 4, 1 to 8, "commands that may wait for the unit")
  )

  def build(values: ParameterValues): HardwareUnit = new Allocate(
    Params(values.int("kept-grains"), values.int("kept"), values.int("recent"), values.int("command-queue"))
  )
}
