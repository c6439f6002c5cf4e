package rackwright.store

import rackwright.unit.{HardwareUnit, Parameter, ParameterValues, UnitDescription}

/** The store for elaboration. */
object StoreDescription extends UnitDescription {
  val name: String = "store"
  val summary: String = "Answers requests for the values of keys in a hash table in memory, many at a time."
  val status: String = "ready"

  val parameters: Seq[Parameter] = Seq(
    Parameter.powerOfTwo("lookups", 16, 2, 64, "requests whose keys are looked for at the same time"),
    Parameter.powerOfTwo("outstanding", 64, 4, 64, "beats outstanding on each streaming port"),
    Parameter.integer("command-queue", 4, 1 to 8, "operations that may wait for the unit"),
    Parameter.word("protocol", "binary", Seq("binary", "text"), "of requests: its own, or memcached's text by UDP")
  )

  def build(values: ParameterValues): HardwareUnit = new Store(
    Params(
      values.int("lookups"),
      values.int("outstanding"),
      values.int("command-queue"),
      values.word("protocol") == "text"
    )
  )
}
