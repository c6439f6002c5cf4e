package rackwright.drx

import chisel3._

/** An operand of a step: what an address calculator says when the step is issued. */
class Operand extends Bundle {

  /** A byte of the scratchpad, an offset in a region, or the value of a constant. */
  val address = UInt(32.W)

  /** One of [[Isa.types]]. */
  val elementType = UInt(Operand.typeBits.W)

  /** Bytes from one element to the next; negative ones as two's complement. */
  val lane = UInt(32.W)
}

object Operand {
  val typeBits: Int = Isa.field("loop", "format", "type").bits
}

/** What a step asks for. */
object StepKind extends ChiselEnum {

  /** `broken` is an instruction that can't be carried out. */
  val compute, load, store, waitLoads, waitStores, end, broken = Value
}

/** An instruction with the operands of its iteration, as it leaves the instruction repeater. */
class Step(params: Params) extends Bundle {
  val kind = StepKind()

  /** Which instruction it is of. */
  val index = UInt(params.indexBits.W)

  /** Of `compute`: one of its functions. */
  val function = UInt(Isa.function.bits.W)

  /** Of `compute`; the first of the others is in the scratchpad, the second in memory. */
  val destination = new Operand
  val first = new Operand
  val second = new Operand

  /** Of `compute`: elements. */
  val length = UInt(Isa.field("loop", "length", "value").bits.W)

  /** Of `load` and `store`: bytes, and the region of memory. */
  val size = UInt(Isa.field("memory", "size").bits.W)
  val region = UInt(Isa.field("loop", "region", "region").bits.W)

  /** Of waits: how many transfers may be under way afterwards. */
  val count = UInt(Isa.field("synchronisation", "count").bits.W)
}
