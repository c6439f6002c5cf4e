package rackwright.drx

import chisel3._
import chisel3.util._

import rackwright.stream.StreamRange

/** A step with what follows from its operands, for which there is no time in the cycle in which it is carried out. */
class CheckedStep(params: Params) extends Bundle {
  val step = new Step(params)

  /** Of `compute`: elements of a chunk, as a power of two. */
  val together = UInt(log2Ceil(log2Ceil(params.lanes) + 1).W)

  /** Of transfers: where memory is accessed, and where the bytes end in the scratchpad and in the region. */
  val address = UInt(params.port.addressBits.W)
  val placeEnd = UInt(33.W)
  val regionEnd = UInt(33.W)
  val regionLength = UInt(64.W)
}

object CheckedStep {

  /** What follows from `step` for a program with these ranges. */
  def apply(params: Params, step: Step, regions: Vec[StreamRange]): CheckedStep = {
    val checked = Wire(new CheckedStep(params))
    val (first, second) = (Elements.together(params, step.first), Elements.together(params, step.second))
    val least = Mux(LaneFunction.isBinary(step.function) && second < first, second, first)
    val region = regions(step.region)
    checked.step := step
    checked.together := Mux(Elements.packed(step.destination), least, 0.U)
    checked.address := region.address + step.second.address
    checked.placeEnd := step.first.address +& step.size
    checked.regionEnd := step.second.address +& step.size
    checked.regionLength := region.length
    checked
  }
}
