package rackwright.pagefault

import rackwright.unit.{HardwareUnit, Parameter, ParameterValues, UnitDescription}

/** The page-fault unit in the list of units. */
object PageFaultDescription extends UnitDescription {
  private val default = Params()

  val name: String = "page-fault"
  val summary: String = "Brings remote pages from memory blades while the hart's walk waits."
  val status: String = "ready, in the servers of clusters"

  val parameters: Seq[Parameter] = Seq(
    Parameter.powerOfTwo("faults", default.faults, 2, 8, "pages on their way here at once"),
    Parameter.powerOfTwo("evictions", default.evictions, 2, 16, "pages on their way to blades at once"),
    Parameter.powerOfTwo(
      "queue-entries",
      default.queueEntries,
      8,
      256,
      "entries of the queues of free frames and of evictions"
    ),
    Parameter.powerOfTwo("outstanding", default.outstanding, 16, 256, "beats outstanding on the ports for pages")
  )

  def build(values: ParameterValues): HardwareUnit = new PageFault(
    Params(values.int("faults"), values.int("evictions"), values.int("queue-entries"), values.int("outstanding"))
  )
}
