package rackwright.soc

/** A pin of a unit by its name, as wide as `bits`; an input of the unit or an output. */
case class PinSpec(name: String, bits: Int, input: Boolean)

/** The port of a unit for its registers of `bytes` bytes: ours (`mmio`) or AXI4-Lite.
  *
  * `pins` are those of its contract by their signals. Without `parts`, a register is read and written as a whole.
  */
case class RegisterSpec(
    contract: String,
    bytes: Int,
    addressBits: Int,
    parts: Boolean,
    pins: Map[String, PinSpec]
)

/** A port by which a unit accesses memory in AXI4, with its pins by their signals. */
case class ManagerSpec(name: String, bytes: Int, idBits: Int, addressBits: Int, pins: Map[String, PinSpec])

/** A stream of frames that leaves a unit (`out`) or arrives at it, `bytes` bytes in a cycle. */
case class StreamSpec(name: String, bytes: Int, out: Boolean, pins: Map[String, PinSpec])

/** A unit on the buses, with its registers from `base` on. `kind` is what others of its kind are called too. */
case class BusUnitSpec(
    unit: UnitSpec,
    kind: String,
    base: BigInt,
    size: BigInt,
    registers: RegisterSpec,
    managers: List[ManagerSpec],
    streams: List[StreamSpec]
) {

  /** The pins that only units on the buses have. */
  def pins: Seq[PinSpec] =
    registers.pins.values.toSeq ++ managers.flatMap(_.pins.values) ++ streams.flatMap(_.pins.values)
}
