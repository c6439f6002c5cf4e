package rackwright.drx

import chisel3._
import chisel3.util._

import rackwright.stream.StreamRange

/** A step with values derived from its operands, which are computed one stage ahead of its execution for timing. */
class CheckedStep(params: Params) extends Bundle {
  val step = new Step(params)

  /** For `compute`: the number of elements in a lane and in a chunk, as powers of two. */
  val packing = UInt(2.W)
  val together = UInt(log2Ceil(log2Ceil(params.lanes) + Packing.most + 1).W)

  /** For transfers: the address in memory, and the ends of the bytes in the scratchpad and in the region. */
  val address = UInt(params.port.addressBits.W)
  val placeEnd = UInt(33.W)
  val regionEnd = UInt(33.W)
  val regionLength = UInt(64.W)
}

object CheckedStep {

  /** The checked form of `step` for a program with these ranges. */
  def apply(params: Params, step: Step, regions: Vec[StreamRange]): CheckedStep = {
    val checked = Wire(new CheckedStep(params))
    val (first, second) = (Elements.together(params, step.first), Elements.together(params, step.second))
    val least = Mux(LaneFunction.isBinary(step.function) && second < first, second, first)
    val region = regions(step.region)
    checked.step := step
    checked.packing := Packing(step)
    checked.together := Mux(
      checked.packing =/= Packing.none,
      log2Ceil(params.lanes).U +& checked.packing,
      Mux(Elements.packed(step.destination), least, 0.U)
    )
    checked.address := region.address + step.second.address
    checked.placeEnd := step.first.address +& step.size
    checked.regionEnd := step.second.address +& step.size
    checked.regionLength := region.length
    checked
  }
}
