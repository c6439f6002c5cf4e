package rackwright.daronpon

import rackwright.unit.{HardwareUnit, Parameter, ParameterValues, UnitDescription}

/** Describes the dispatcher for elaboration. */
object DaronponDescription extends UnitDescription {
  private val default = Params()

  val name: String = "daronpon"
  val summary: String = "Dispatches requests among replicas in several racks, in the path of a switch's port."
  val status: String = "ready, in the switches of clusters"

  val parameters: Seq[Parameter] = Seq(
    Parameter.integer("services", default.services, 1 to 16, "services that are dispatched"),
    Parameter.powerOfTwo("replicas", default.replicas, 2, 64, "replicas in the rack, of all services"),
    Parameter.powerOfTwo("peers", default.peers, 2, 32, "dispatchers of other racks"),
    Parameter.powerOfTwo("flights", default.flights, 64, 65536, "requests under way that can be counted")
  )

  def build(values: ParameterValues): HardwareUnit = new Daronpon(
    Params(values.int("services"), values.int("replicas"), values.int("peers"), values.int("flights"))
  )
}
