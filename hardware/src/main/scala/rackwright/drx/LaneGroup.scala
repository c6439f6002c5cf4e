package rackwright.drx

import chisel3._
import chisel3.util._

/** Neighbouring lanes with registers of their own for what is asked of them: one for all lanes would take longer to
  * drive them than some stages take.
  */
class LaneGroup extends Module {

  /** What is asked of the lanes, a cycle before the first of their stages, and of which stages it is to be kept. */
  val control = IO(Input(new LaneControl))
  val valid = IO(Input(Vec(Lane.stages, Bool())))

  /** The numbers of each lane, in its first stage. */
  val numbers = IO(Input(Vec(LaneGroup.lanes, Vec(3, UInt(32.W)))))
  val results = IO(Output(Vec(LaneGroup.lanes, UInt(32.W))))

  /** Which results are written, for each element of a lane. */
  val written = IO(Output(Vec(LaneGroup.lanes, UInt((1 << Packing.most).W))))

  private val controls = VecInit(valid.scanLeft(control)((before, keeps) => RegEnable(before, keeps)).tail)
  private val lanes = Seq.fill(LaneGroup.lanes)(Module(new Lane))
  for ((lane, i) <- lanes.zipWithIndex) {
    lane.control := controls
    lane.numbers := numbers(i)
    results(i) := lane.result
    written(i) := lane.written
  }
}

object LaneGroup {

  /** Lanes of a group: the fewest that a unit has. */
  val lanes: Int = 8
}
