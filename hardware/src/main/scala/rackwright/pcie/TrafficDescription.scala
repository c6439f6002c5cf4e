package rackwright.pcie

import rackwright.unit.{HardwareUnit, Parameter, ParameterValues, UnitDescription}

/** `traffic` in the list of units. */
object TrafficDescription extends UnitDescription {
  private val default = Params()

  val name: String = "traffic"
  val summary: String = "Makes DMA over PCI Express: reads and writes of the host's memory and of other cards."
  val status: String = "ready, on cards of fabrics"

  val parameters: Seq[Parameter] = Seq(
    Parameter.powerOfTwo("tags", default.tags, 2, 256, "reads outstanding"),
    Parameter.choice("read-bytes", default.readBytes, Params.sizes, "longest read request"),
    Parameter.powerOfTwo("packets", default.packets, 2, 32, "requests of others that it holds, of each class")
  )

  def build(values: ParameterValues): HardwareUnit = new Traffic(
    Params(values.int("tags"), values.int("read-bytes"), values.int("packets"))
  )
}
