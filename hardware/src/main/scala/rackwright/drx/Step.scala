package rackwright.drx

import chisel3._

/** An operand of a step: the state of an address calculator when the step is issued. */
class Operand extends Bundle {

  /** A scratchpad address, an offset in a region, or the value of a constant. */
  val address = UInt(32.W)

  /** One of [[Isa.types]]. */
  val elementType = UInt(Operand.typeBits.W)

  /** Distance in bytes from one element to the next, in two's complement. */
  val lane = UInt(32.W)
}

object Operand {
  val typeBits: Int = Isa.field("loop", "format", "type").bits
}

/** The action of a step. */
object StepKind extends ChiselEnum {

  /** `broken` is an illegal instruction. */
  val compute, load, store, waitLoads, waitStores, end, broken = Value
}

/** An instruction with the operands of its iteration, as the instruction repeater issues it. */
class Step(params: Params) extends Bundle {
  val kind = StepKind()

  /** The index of its instruction. */
  val index = UInt(params.indexBits.W)

  /** For `compute`: the function. */
  val function = UInt(Isa.function.bits.W)

  /** The operands. For other steps, the first is in the scratchpad and the second in memory. */
  val destination = new Operand
  val first = new Operand
  val second = new Operand

  /** For `compute`: the number of elements. */
  val length = UInt(Isa.field("loop", "length", "value").bits.W)

  /** For `load` and `store`: the number of bytes, and the memory region. */
  val size = UInt(Isa.field("memory", "size").bits.W)
  val region = UInt(Isa.field("loop", "region", "region").bits.W)

  /** For synchronisation: the most transfers that may be outstanding afterwards. */
  val count = UInt(Isa.field("synchronisation", "count").bits.W)
}
