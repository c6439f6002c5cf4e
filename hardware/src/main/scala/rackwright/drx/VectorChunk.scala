package rackwright.drx

import chisel3._
import chisel3.util._

/** The elements computed in one cycle: one for each lane, or several that are packed; or as many as a line holds of
  * every operand.
  */
class VectorChunk(params: Params) extends Bundle {

  /** The index of its instruction. */
  val index = UInt(params.indexBits.W)
  val function = UInt(Isa.function.bits.W)
  val packing = UInt(2.W)
  val count = UInt(params.elementBits.W)
  val destination = new Operand
  val first = new Operand
  val second = new Operand

  def operands: Seq[Operand] = Seq(first, second, destination)

  /** The operands that are read from the scratchpad. */
  def reads: Seq[Bool] = Seq(
    !Elements.constant(first),
    LaneFunction.isBinary(function) && !Elements.constant(second),
    LaneFunction.isTernary(function)
  )
}

/** Splits vectors into chunks, one in each cycle. */
class VectorCutter(params: Params) extends Module {
  private val lengthBits = Isa.field("loop", "length", "value").bits

  /** Accepted with its last chunk. */
  val step = IO(Flipped(Decoupled(new CheckedStep(params))))
  val chunk = IO(Decoupled(new VectorChunk(params)))

  /** Abandons the vector in progress. */
  val clear = IO(Input(Bool()))

  private val done = RegInit(0.U(lengthBits.W))
  private val moved = RegInit(VecInit.fill(3)(0.U(32.W)))
  private val vector = step.bits.step
  private val together = step.bits.together
  private val left = vector.length - done
  private val most = (1.U << together)(params.elementBits - 1, 0)
  private val last = left <= most

  chunk.valid := step.valid
  chunk.bits.index := vector.index
  chunk.bits.function := vector.function
  chunk.bits.packing := step.bits.packing
  chunk.bits.count := Mux(last, left, most)
  private val operands = Seq(vector.first, vector.second, vector.destination)
  for ((to, (from, by)) <- chunk.bits.operands.zip(operands.zip(moved))) {
    to := from
    to.address := from.address + by
  }
  step.ready := chunk.ready && last

  when(chunk.fire) {
    done := Mux(last, 0.U, done + most)
    for ((by, operand) <- moved.zip(operands)) {
      by := Mux(last, 0.U, by + Mux(Elements.constant(operand), 0.U, (operand.lane << together)(31, 0)))
    }
  }
  when(clear) {
    done := 0.U
    moved.foreach(_ := 0.U)
  }
}
