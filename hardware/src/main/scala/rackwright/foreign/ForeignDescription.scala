package rackwright.foreign

import rackwright.unit.{HardwareUnit, Parameter, ParameterValues, UnitDescription}

/** A user's unit in Verilog, by its manifest, whose parameters have their values. */
class ForeignDescription(manifest: ForeignManifest) extends UnitDescription {
  def name: String = manifest.unit
  def summary: String = s"the module ${manifest.top}, in Verilog"
  def status: String = "ready"
  def parameters: Seq[Parameter] = Seq.empty
  def build(values: ParameterValues): HardwareUnit = new ForeignUnit(manifest)
}
