package rackwright.unit

/** A unit as the list shows it and elaboration builds it.
  *
  * A user's own is a class with a constructor without arguments (or an `object`) on the class path, chosen with
  * `--class`.
  */
trait UnitDescription {

  /** Lower case with hyphens, as on the command line. */
  def name: String

  /** Its function, in one sentence. */
  def summary: String

  /** Its state: `ready`, or what is missing. */
  def status: String

  /** The parameters for users. */
  def parameters: Seq[Parameter]

  /** Builds the top of the unit; runs within elaboration. `values` are checked values of `parameters`. */
  def build(values: ParameterValues): HardwareUnit
}
