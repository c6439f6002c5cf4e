package rackwright.drx

import chisel3._
import chisel3.util._

/** Loop events that the address calculators follow. */
class LoopMove(params: Params) extends Bundle {

  /** A loop is opened, and starts its first iteration. */
  val opens = Bool()

  /** Loop `level` starts its next iteration. */
  val repeats = Bool()
  val level = UInt(params.depthBits.W)
}

/** A change of one calculator: of its base, of a stride, of its format or of its region, or of nothing. */
class CalculatorChange(val levels: Int) extends Bundle {
  val base = Bool()
  val stride = Bool()
  val format = Bool()
  val region = Bool()
  val calculator = UInt(log2Ceil(Isa.calculators).W)
  val value = UInt(32.W)
  val level = UInt(log2Ceil(levels).W)
  val elementType = UInt(Operand.typeBits.W)
}

/** Strided address calculators: each holds an address, which every loop advances by its own stride from one iteration
  * to the next.
  *
  * A calculator holds an address for each open loop; operands get that of the innermost loop.
  */
class AddressCalculators(params: Params) extends Module {
  private val levels = params.loopDepth
  private val count = Isa.calculators

  /** Resets addresses, strides and formats to 0, and types to `u8`. */
  val clear = IO(Input(Bool()))

  /** Number of open loops, before the loop events of this cycle. */
  val depth = IO(Input(UInt(params.depthBits.W)))
  val move = IO(Input(new LoopMove(params)))

  val change = IO(Flipped(Valid(new CalculatorChange(levels))))

  /** The selected calculators, and their current values. */
  val chosen = IO(Input(Vec(3, UInt(log2Ceil(count).W))))
  val operands = IO(Output(Vec(3, new Operand)))

  /** The regions of the selected calculators. */
  val regions = IO(Output(Vec(3, UInt(3.W))))

  /** `addresses(c)(l)`: the address of calculator c at loop depth l. */
  private val addresses = RegInit(VecInit.fill(count, levels + 1)(0.U(32.W)))
  private val strides = RegInit(VecInit.fill(count, levels)(0.U(32.W)))
  private val types = RegInit(VecInit.fill(count)(0.U(Operand.typeBits.W)))
  private val lanes = RegInit(VecInit.fill(count)(0.U(32.W)))
  private val regionOf = RegInit(VecInit.fill(count)(0.U(3.W)))
  private val current = addresses.map(levelsOf => levelsOf(depth))

  for (c <- 0 until count) {
    def mine(changes: Bool): Bool = change.valid && changes && change.bits.calculator === c.U
    for (l <- 0 to levels) {
      when(mine(change.bits.base) && depth === l.U) { addresses(c)(l) := change.bits.value }
      if (l < levels) {
        when(mine(change.bits.base) && depth <= l.U) { strides(c)(l) := 0.U }
        when(mine(change.bits.stride) && change.bits.level === l.U) { strides(c)(l) := change.bits.value }
      }
      if (l > 0) {
        when(move.opens && depth === (l - 1).U) { addresses(c)(l) := addresses(c)(l - 1) }
        when(move.repeats && move.level === (l - 1).U) { addresses(c)(l) := addresses(c)(l) + strides(c)(l - 1) }
      }
    }
    when(mine(change.bits.format)) {
      types(c) := change.bits.elementType
      lanes(c) := change.bits.value
    }
    when(mine(change.bits.region)) { regionOf(c) := change.bits.value }
  }
  when(clear) {
    addresses.foreach(_.foreach(_ := 0.U))
    strides.foreach(_.foreach(_ := 0.U))
    types.foreach(_ := 0.U)
    lanes.foreach(_ := 0.U)
    regionOf.foreach(_ := 0.U)
  }

  for (i <- chosen.indices) {
    operands(i).address := VecInit(current)(chosen(i))
    operands(i).elementType := types(chosen(i))
    operands(i).lane := lanes(chosen(i))
    regions(i) := regionOf(chosen(i))
  }
}
