package rackwright.drx

import chisel3._
import chisel3.util._

/** The open hardware loops: the first instruction and the remaining iterations of each.
  *
  * An instruction may end several loops: the innermost of these with an iteration left is repeated, and the loops
  * inside it are closed. This is decided in the cycle of the instruction, so that loops have no overhead.
  */
class LoopStack(params: Params) extends Module {
  private val levels = params.loopDepth
  private val iterationBits = Isa.field("loop", "loop", "value").bits

  /** Closes every loop. */
  val clear = IO(Input(Bool()))

  /** Opens a loop with at least 1 iteration, and its first instruction. Not allowed at the largest `depth`. */
  val open = IO(Flipped(Valid(new Bundle {
    val iterations = UInt(iterationBits.W)
    val begin = UInt(params.indexBits.W)
  })))

  /** The number of loops that end with the current instruction, at most `depth`; takes effect with `step`. */
  val ends = IO(Input(UInt(Isa.field("compute", "ends").bits.W)))
  val step = IO(Input(Bool()))

  val depth = IO(Output(UInt(params.depthBits.W)))

  /** Whether a loop that ends here is repeated, where, and which one. */
  val repeats = IO(Output(Bool()))
  val target = IO(Output(UInt(params.indexBits.W)))
  val level = IO(Output(UInt(params.depthBits.W)))

  private val openLoops = RegInit(0.U(params.depthBits.W))
  private val left = Reg(Vec(levels, UInt(iterationBits.W)))
  private val last = Reg(Vec(levels, Bool()))
  private val begin = Reg(Vec(levels, UInt(params.indexBits.W)))
  depth := openLoops

  // A loop ends here if it is open and fewer than `ends` loops are inside it.
  private val goesOn = VecInit((0 until levels).map { l =>
    l.U < openLoops && l.U +& ends >= openLoops && !last(l)
  })
  repeats := goesOn.asUInt.orR
  level := PriorityMux((0 until levels).reverse.map(l => goesOn(l) -> l.U(params.depthBits.W)))
  target := PriorityMux((0 until levels).reverse.map(l => goesOn(l) -> begin(l)))

  when(step) {
    openLoops := Mux(repeats, level + 1.U, openLoops - ends)
    for (l <- 0 until levels) {
      when(repeats && level === l.U) {
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
  assert(!open.valid || openLoops =/= levels.U, "a loop too many is opened")
  assert(!step || ends <= openLoops, "more loops end than are open")
  when(clear) { openLoops := 0.U }
}
