package rackwright.noc

import rackwright.unit.{HardwareUnit, Parameter, ParameterValues, UnitDescription}

/** The mesh for elaboration. */
object MeshDescription extends UnitDescription {
  val name: String = "mesh"
  val summary: String = "Carries packets between tiles on a mesh, with credits, in up to three networks."
  val status: String = "ready, by itself"

  val parameters: Seq[Parameter] = Seq(
    Parameter.integer("width", 2, 1 to NocParams.most, "tiles in a row"),
    Parameter.integer("height", 2, 1 to NocParams.most, "rows"),
    Parameter.word("routing", "xy", RoutingOrder.all.map(_.word), "order of dimensions: xy along the row first"),
    Parameter.integer("networks", 3, 1 to 3, "networks side by side, one for each class of messages"),
    Parameter.powerOfTwo("flit-bytes", 16, 8, 64, "bytes of a flit: what a link carries in a cycle"),
    Parameter.integer("depth", 4, NocParams.leastDepth to 16, "flits in each queue of a router"),
    Parameter.integer("stages", 0, 0 to 4, "further registers in front of each input of a router")
  )

  def build(values: ParameterValues): HardwareUnit = new Mesh(
    NocParams(
      values.int("width"),
      values.int("height"),
      RoutingOrder.all.find(_.word == values.word("routing")).get,
      values.int("networks"),
      values.int("flit-bytes"),
      values.int("depth"),
      values.int("stages")
    )
  )
}
