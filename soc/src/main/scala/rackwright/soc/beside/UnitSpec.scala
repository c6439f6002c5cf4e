package rackwright.soc

/** A memory port of a unit, which `reads` and `writes` beats of `bytes` bytes, told apart by tags of `tagBits` bits. */
case class MemorySpec(name: String, bytes: Int, tagBits: Int, addressBits: Int, reads: Boolean, writes: Boolean)

/** The numbers by which programs reach a unit: those of custom-`opcode` from `base` on, `size` of them. */
case class RouteSpec(opcode: Int, base: Int, size: Int)

/** A unit as a black box: its module with its parameters, its pins by contract, and how commands reach it, if a hart
  * sends them.
  *
  * A unit that `translates` gets with its commands what decides how the hart would translate an address.
  *
  * `verilog` are resources in `vsrc/` that declare the module, for who gathers sources so.
  */
case class UnitSpec(
    name: String,
    module: String,
    parameters: Map[String, BigInt],
    clock: String,
    reset: String,
    resetHigh: Boolean,
    idle: Option[String],
    command: Option[String],
    translates: Boolean,
    routes: List[RouteSpec],
    memories: List[MemorySpec],
    interrupts: List[String],
    verilog: List[String]
)

/** A range of addresses. */
case class RangeSpec(base: BigInt, size: BigInt)
