package rackwright.drx

import chisel3._

/** Neighbouring lanes with their operands: all slices of a unit are one module, which is mapped and compiled once. */
class VectorSlice extends Module {
  import VectorSlice._

  /** How the operands of the next cycle are read. */
  val operands = IO(Input(Vec(operandCount, new OperandControl)))

  /** Bytes of the operands' lines: of both sources, and of a destination that is read. */
  val sources = IO(Input(Vec(operandCount - 1, Vec(LaneGroup.lanes, new LaneBytes(strided = true)))))
  val destination = IO(Input(Vec(LaneGroup.lanes, new LaneBytes(strided = false))))

  /** The element of the first lane of each operand; and the number of all lanes, if they get the same one. */
  val first = IO(Output(Vec(operandCount, UInt(32.W))))
  val shared = IO(Input(Vec(operandCount, UInt(32.W))))

  /** The same as those of a [[LaneGroup]]. */
  val control = IO(Input(new LaneControl))
  val results = IO(Output(Vec(LaneGroup.lanes, UInt(32.W))))
  val written = IO(Output(Vec(LaneGroup.lanes, UInt((1 << Packing.most).W))))

  private val numbers = (sources :+ destination).zipWithIndex.map { case (bytes, which) =>
    val group = Module(new OperandGroup(strided = which < operandCount - 1))
    group.control := operands(which)
    group.bytes := bytes
    group.shared := shared(which)
    first(which) := group.first
    group.numbers
  }

  private val lanes = Module(new LaneGroup)
  lanes.control := control
  lanes.numbers := VecInit.tabulate(LaneGroup.lanes)(lane => VecInit(numbers.map(_(lane))))
  results := lanes.results
  written := lanes.written
}

object VectorSlice {

  /** The operands of a function: two sources, and the destination. */
  val operandCount: Int = 3
}
