package rackwright.drx

import chisel3._
import chisel3.util._

/** What follows an instruction that ends a number of loops: whether one of them is repeated, where, and which one. */
class LoopOutcome(params: Params) extends Bundle {
  val repeats = Bool()
  val target = UInt(params.indexBits.W)
  val level = UInt(params.depthBits.W)
}

/** The open hardware loops: the first instruction and the remaining iterations of each.
  *
  * An instruction may end several loops: the innermost of these with an iteration left is repeated, and the loops
  * inside it are closed. This is decided in the cycle of the instruction, so that loops have no overhead; the outcomes
  * for all numbers of ended loops are known before the instruction has been read.
  */
class LoopStack(params: Params) extends Module {
  private val levels = params.loopDepth
  private val iterationBits = Isa.field("loop", "loop", "value").bits
  private val endBits = Isa.field("compute", "ends").bits

  /** Closes every loop. */
  val clear = IO(Input(Bool()))

  /** Opens a loop with at least 1 iteration, and its first instruction. At the largest `depth`, the loops are undefined
    * until `clear`.
    */
  val open = IO(Flipped(Valid(new Bundle {
    val iterations = UInt(iterationBits.W)
    val begin = UInt(params.indexBits.W)
  })))

  /** The number of loops that end with the current instruction; takes effect with `step`. With more than `depth`, the
    * loops are undefined until `clear`.
    */
  val ends = IO(Input(UInt(endBits.W)))
  val step = IO(Input(Bool()))

  val depth = IO(Output(UInt(params.depthBits.W)))

  /** `outcomes(e)`: what follows an instruction that ends `e` loops. */
  val outcomes = IO(Output(Vec(1 << endBits, new LoopOutcome(params))))

  private val openLoops = RegInit(0.U(params.depthBits.W))
  private val left = Reg(Vec(levels, UInt(iterationBits.W)))
  private val last = Reg(Vec(levels, Bool()))
  private val begin = Reg(Vec(levels, UInt(params.indexBits.W)))
  depth := openLoops

  /** The number of open loops after each outcome, and which loop is repeated, which depend on `ends` by one selection
    * alone.
    */
  private val after = Wire(Vec(outcomes.size, UInt(params.depthBits.W)))
  private val repeated = Wire(Vec(outcomes.size, UInt(levels.W)))

  for ((outcome, number) <- outcomes.zipWithIndex) {
    // A loop ends if it is open and fewer than `number` loops are inside it.
    val goesOn = VecInit((0 until levels).map { l =>
      l.U < openLoops && (l + number).U >= openLoops && !last(l)
    })
    outcome.repeats := goesOn.asUInt.orR
    outcome.level := PriorityMux((0 until levels).reverse.map(l => goesOn(l) -> l.U(params.depthBits.W)))
    outcome.target := PriorityMux((0 until levels).reverse.map(l => goesOn(l) -> begin(l)))
    after(number) := Mux(outcome.repeats, outcome.level + 1.U, openLoops - number.U)
    repeated(number) := Reverse(PriorityEncoderOH(Reverse(goesOn.asUInt)))
  }

  when(step) {
    openLoops := after(ends)
    for (l <- 0 until levels) {
      when(repeated(ends)(l)) {
        left(l) := left(l) - 1.U
        last(l) := left(l) === 2.U
      }
    }
  }
  when(open.valid) {
    for (l <- 0 until levels) {
      when(openLoops === l.U) {
        left(l) := open.bits.iterations
        last(l) := open.bits.iterations === 1.U
        begin(l) := open.bits.begin
      }
    }
    openLoops := openLoops + 1.U
  }
  when(clear) { openLoops := 0.U }
}
