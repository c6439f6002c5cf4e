package rackwright.protobuf

import chisel3._
import chisel3.util._

/** A queue whose first two elements can be seen, and taken together.
  *
  * @param gen
  *   what waits.
  * @param depth
  *   how many may wait: even.
  */
class PairQueue[T <: Data](gen: T, depth: Int) extends Module {
  require(depth >= 2 && depth % 2 == 0, s"a queue of pairs has an even depth from 2, not $depth")

  val enqueue = IO(Flipped(Decoupled(gen)))

  /** The oldest and the one after it. */
  val heads = IO(Vec(2, Valid(gen)))

  /** How many of them leave: 0 to 2, of those that are there. */
  val take = IO(Input(UInt(2.W)))

  // Elements go to two queues in turns.
  private val halves = Seq.fill(2)(Module(new Queue(gen, depth / 2, useSyncReadMem = true)))
  private val goesToSecond = RegInit(false.B)
  private val startsWithSecond = RegInit(false.B)
  enqueue.ready := Mux(goesToSecond, halves(1).io.enq.ready, halves(0).io.enq.ready)
  when(enqueue.fire) { goesToSecond := !goesToSecond }
  when(take === 1.U) { startsWithSecond := !startsWithSecond }
  for ((half, index) <- halves.zipWithIndex) {
    val isOldest = startsWithSecond === (index == 1).B
    half.io.enq.valid := enqueue.valid && goesToSecond === (index == 1).B
    half.io.enq.bits := enqueue.bits
    half.io.deq.ready := Mux(isOldest, take =/= 0.U, take === 2.U)
  }
  private def head(half: Int): Valid[T] = {
    val head = Wire(Valid(gen))
    head.valid := halves(half).io.deq.valid
    head.bits := halves(half).io.deq.bits
    head
  }
  heads(0) := Mux(startsWithSecond, head(1), head(0))
  heads(1) := Mux(startsWithSecond, head(0), head(1))
}
