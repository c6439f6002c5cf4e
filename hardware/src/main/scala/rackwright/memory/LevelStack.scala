package rackwright.memory

import chisel3._
import chisel3.util._

/** Stores the state of the messages around the one that is being read.
  *
  * @param gen
  *   the state of a message.
  * @param depth
  *   messages kept.
  */
class LevelStack[T <: Data](gen: T, depth: Int) extends Module {

  /** Forget all. */
  val clear = IO(Input(Bool()))

  /** Keep one more; not while full. */
  val push = IO(Flipped(Valid(gen)))

  /** Give back the latest; not while empty. */
  val pop = IO(Input(Bool()))

  /** In the cycle after `pop`: the stored state. */
  val popped = IO(Valid(gen))

  val full = IO(Output(Bool()))
  val empty = IO(Output(Bool()))

  private val kept = Sram(depth, gen)
  private val count = RegInit(0.U(log2Ceil(depth + 1).W))
  when(push.valid) { kept.write(count, push.bits) }
  popped.bits := kept.read(count - 1.U, pop)
  popped.valid := RegNext(pop, false.B)
  count := Mux(clear, 0.U, count + push.valid - pop)
  full := count === depth.U
  empty := count === 0.U
}
