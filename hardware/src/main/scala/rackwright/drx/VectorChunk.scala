package rackwright.drx

import chisel3._
import chisel3.util._

/** As many elements as are computed in a cycle: all lanes, or as many as operands have in a line. */
class VectorChunk(params: Params) extends Bundle {
  val function = UInt(Isa.function.bits.W)
  val count = UInt(log2Ceil(params.lanes + 1).W)
  val destination = new Operand
  val first = new Operand
  val second = new Operand
}

/** Cuts a vector into chunks, and finds those that leave the scratchpad. */
class VectorCutter(params: Params) extends Module {
  private val lengthBits = Isa.field("loop", "length", "value").bits

  /** Taken with its last chunk. */
  val step = IO(Flipped(Decoupled(new Step(params))))
  val chunk = IO(Decoupled(new VectorChunk(params)))

  /** This chunk has an operand outside the scratchpad, or a constant as its destination: it must not be taken. */
  val broken = IO(Output(Bool()))

  /** Give up the vector that was begun. */
  val clear = IO(Input(Bool()))

  private val done = RegInit(0.U(lengthBits.W))
  private val moved = RegInit(VecInit.fill(3)(0.U(32.W)))
  private val operands = Seq(step.bits.destination, step.bits.first, step.bits.second)
  private val binary = LaneFunction.isBinary(step.bits.function)
  private val reads = Seq(true.B, !Elements.constant(step.bits.first), binary && !Elements.constant(step.bits.second))
  private val together = {
    val (first, second) = (Elements.together(params, step.bits.first), Elements.together(params, step.bits.second))
    val least = Mux(binary && second < first, second, first)
    Mux(Elements.packed(step.bits.destination), least, 0.U)
  }
  private val left = step.bits.length - done
  private val most = (1.U << together)(log2Ceil(params.lanes), 0)
  private val last = left <= most

  chunk.valid := step.valid
  chunk.bits.function := step.bits.function
  chunk.bits.count := Mux(last, left, most)
  for ((to, (from, by)) <- Seq(chunk.bits.destination, chunk.bits.first, chunk.bits.second).zip(operands.zip(moved))) {
    to := from
    to.address := from.address + by
  }
  step.ready := chunk.ready && last

  broken := Elements.constant(step.bits.destination) ||
    Seq(chunk.bits.destination, chunk.bits.first, chunk.bits.second).zip(reads).map { case (operand, used) =>
      // All lanes write to the places of their own, also where these are the same.
      val end = operand.address +& Elements.span(operand, chunk.bits.count)
      used && end > params.scratchpadBytes.U
    }.reduce(_ || _)

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
