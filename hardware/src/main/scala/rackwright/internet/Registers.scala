package rackwright.internet

import rackwright.port.RegisterMap

/** The register map in `registers.json`, for the largest table and the maximum number of streams. */
object Registers {
  private val largest = RegisterMap.read("internet")

  /** That of a unit with the table and the streams of `params`. */
  def of(params: Params): RegisterMap = RegisterMap(largest.sized("bindings", params.bindings).registers.map {
    case bindings if bindings.name == "bindings" =>
      bindings.copy(fields = bindings.fields.map {
        case stream if stream.name == "stream" => stream.copy(bits = params.streamBits)
        case other => other
      })
    case other => other
  })

  /** Names of the counters, in the order of their registers. */
  val counters: Seq[String] = largest.counters.map(_.name)
}
