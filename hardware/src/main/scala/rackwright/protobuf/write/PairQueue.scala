package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.memory.SramQueue

/** A FIFO whose first two elements are visible, and can be dequeued together.
  *
  * @param gen
  *   type of the elements.
  * @param depth
  *   capacity: a power of two from 4.
  */
class PairQueue[T <: Data](gen: T, depth: Int) extends Module {
  require(isPow2(depth) && depth >= 4, s"the depth of a queue of pairs is a power of two from 4, not $depth")

  val enqueue = IO(Flipped(Decoupled(gen)))

  /** The oldest element and the next one. */
  val heads = IO(Vec(2, Valid(gen)))

  /** Number of elements to dequeue: 0 to 2, at most those that are valid. */
  val take = IO(Input(UInt(2.W)))

  // Elements alternate between two queues.
  private val halves = Seq.fill(2)(Module(new SramQueue(gen, depth / 2, direct = true)))
  private val goesToSecond = RegInit(false.B)
  private val startsWithSecond = RegInit(false.B)
  enqueue.ready := Mux(goesToSecond, halves(1).enq.ready, halves(0).enq.ready)
  when(enqueue.fire) { goesToSecond := !goesToSecond }
  when(take === 1.U) { startsWithSecond := !startsWithSecond }
  for ((half, index) <- halves.zipWithIndex) {
    val isOldest = startsWithSecond === (index == 1).B
    half.clear := false.B
    half.enq.valid := enqueue.valid && goesToSecond === (index == 1).B
    half.enq.bits := enqueue.bits
    half.deq.ready := Mux(isOldest, take =/= 0.U, take === 2.U)
  }
  private def head(half: Int): Valid[T] = {
    val head = Wire(Valid(gen))
    head.valid := halves(half).deq.valid
    head.bits := halves(half).deq.bits
    head
  }
  heads(0) := Mux(startsWithSecond, head(1), head(0))
  heads(1) := Mux(startsWithSecond, head(0), head(1))
}
