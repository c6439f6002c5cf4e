package rackwright.ordered

import rackwright.unit.{HardwareUnit, Parameter, ParameterValues, UnitDescription}

/** The ordered index for elaboration. */
object OrderedDescription extends UnitDescription {
  val name: String = "ordered-index"
  val summary: String = "Finds keys and sums ranges of keys in a B+ tree in memory, with a cache of nodes by key range."
  val status: String = "ready"

  val parameters: Seq[Parameter] = Seq(
    Parameter.powerOfTwo("walks", 128, 4, 128, "queries whose nodes are fetched at the same time"),
    Parameter.powerOfTwo("sets", 256, 8, 256, "sets of the cache, of four nodes by range or five by address"),
    Parameter.word("cache", "range", Seq("range", "address"), "what its tags are: key ranges, or addresses"),
    Parameter.powerOfTwo("outstanding", 32, 4, 64, "beats outstanding on each streaming port"),
    Parameter.integer("command-queue", 4, 1 to 8, "operations that may wait for the unit")
  )

  def build(values: ParameterValues): HardwareUnit = new OrderedIndex(
    Params(
      values.int("walks"),
      values.int("sets"),
      values.word("cache") == "range",
      values.int("outstanding"),
      values.int("command-queue")
    )
  )
}
