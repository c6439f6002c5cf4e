package rackwright.elaborate

import circt.stage.ChiselStage

import rackwright.unit.{CommandDescription, HardwareUnit, Manifest, Parameter, ParameterValues, UnitDescription}

/** The list of units as `rw units` shows it. */
object UnitList {

  /** Every unit of `units` with its default parameters. */
  def json(units: Seq[UnitDescription]): ujson.Value = ujson.Obj("units" -> units.map(describe))

  private def describe(unit: UnitDescription): ujson.Value = {
    val design = elaborate(unit)
    ujson.Obj(
      "name" -> unit.name,
      "summary" -> unit.summary,
      "status" -> unit.status,
      "opcodes" -> design.ports.collect { case CommandDescription(_, opcodes, _, _) => opcodes }.flatten,
      "parameters" -> unit.parameters.map(describe),
      "ports" -> Manifest.ports(design),
      "attach" -> Manifest.attach(design)
    )
  }

  private def describe(parameter: Parameter): ujson.Value = ujson.Obj(
    "name" -> parameter.name,
    "default" -> parameter.check(parameter.default),
    "range" -> parameter.range,
    "description" -> parameter.description
  )

  /** Builds the unit without generating Verilog. */
  private def elaborate(unit: UnitDescription): HardwareUnit = {
    var top: Option[HardwareUnit] = None
    ChiselStage.elaborate {
      val design = unit.build(ParameterValues(unit.parameters, Map.empty))
      top = Some(design)
      design
    }
    top.get
  }
}
