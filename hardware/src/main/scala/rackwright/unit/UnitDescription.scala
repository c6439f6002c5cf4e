package rackwright.unit

/** A unit as the list shows it and elaboration builds it.
  *
  * A user's own is a class with a constructor without arguments (or an `object`) on the class path, chosen with
  * `--class`.
  */
trait UnitDescription {

  /** Lower case with hyphens, as on the command line. */
  def name: String

  /** What it does, in one sentence. */
  def summary: String

  /** How far it is: `ready`, or what is missing. */
  def status: String

  /** What the user may set. */
  def parameters: Seq[Parameter]

  /** Builds the top of the unit; runs within elaboration. Values are of `parameters` and checked. */
  def build(values: ParameterValues): HardwareUnit
}
