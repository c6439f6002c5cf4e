package rackwright.mover

import rackwright.unit.{HardwareUnit, Parameter, ParameterValues, UnitDescription, UsageError}

/** The mover for a user's unit, by the manifest of that unit. */
class MoverDescription(manifest: ujson.Value) extends UnitDescription {
  def name: String = "stream-mover"
  def summary: String = s"the mover for the streams of ${manifest("unit").str}"
  def status: String = "ready"
  def parameters: Seq[Parameter] = Seq.empty

  private def ports(contract: String): Seq[ujson.Value] =
    manifest("ports").arr.toSeq.filter(_("contract").str == contract)

  private val streams = ports("axi4-stream").map { port =>
    def has(key: String): Boolean = port.obj.get(key).exists(_.bool)
    val outward = port("direction").str == "out"
    StreamShape(port("name").str, outward, port("bytes").num.toInt, has("keep"), has("last"))
  }
  private val registers = ports("axi4-lite").headOption

  if (streams.size > MoverDescription.most)
    throw UsageError(s"a mover is for up to ${MoverDescription.most} streams, not ${streams.size}")

  def build(values: ParameterValues): HardwareUnit = new StreamMover(
    streams,
    registers.fold(4)(_("bytes").num.toInt),
    registers.fold(0)(port => 1 << port("address_bits").num.toInt.min(LitePort.addressBits))
  )
}

/** Limits of movers. */
object MoverDescription {

  /** Streams whose registers have room in the page. */
  val most: Int = ((1 << LitePort.addressBits) - RegisterRouter.base) / StreamRegisters.stride
}
