package rackwright.drx

import chisel3._

/** Neighbouring lanes with registers of their own for what is asked of them: one for all lanes would take longer to
  * drive them than some stages take.
  */
class LaneGroup extends Module {

  /** What is asked of the lanes, a cycle before the first of their stages. */
  val control = IO(Input(new LaneControl))

  /** The numbers of each lane, in its first stage. */
  val numbers = IO(Input(Vec(LaneGroup.lanes, Vec(3, UInt(32.W)))))
  val results = IO(Output(Vec(LaneGroup.lanes, UInt(32.W))))

  /** Which results are written, for each element of a lane. */
  val written = IO(Output(Vec(LaneGroup.lanes, UInt((1 << Packing.most).W))))

  private val controls = VecInit(Seq.iterate(control, Lane.stages + 1)(RegNext(_)).tail)
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
