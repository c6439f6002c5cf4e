package rackwright.drx

import chisel3._
import chisel3.util._

/** An instruction between the repeater's two stages: what it changes in the address calculators, and the step that it
  * issues, if it does, without the operands that they hold.
  */
class DecodedInstruction(params: Params) extends Bundle {

  /** It issues a step. */
  val issues = Bool()

  /** As in [[Step]]. */
  val kind = StepKind()
  val index = UInt(params.indexBits.W)
  val function = UInt(Isa.function.bits.W)
  val length = UInt(Isa.field("loop", "length", "value").bits.W)
  val size = UInt(Isa.field("memory", "size").bits.W)
  val count = UInt(Isa.field("synchronisation", "count").bits.W)

  /** The calculators of the destination and of both sources; those of a transfer are the first two. */
  val chosen = Vec(3, UInt(log2Ceil(Isa.calculators).W))
  val transfers = Bool()

  /** The number of loops that are open before it, and its loop events and changes of a calculator. */
  val depth = UInt(params.depthBits.W)
  val move = new LoopMove(params)
  val change = new CalculatorChange(params.loopDepth)
}
