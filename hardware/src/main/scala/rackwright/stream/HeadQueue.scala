package rackwright.stream

import chisel3._
import chisel3.util._

/** A queue whose oldest entry is in a register of its own, so that dependent paths start at a flop and not after the
  * multiplexer of all entries. An entry that enters an empty queue of more than one is seen two cycles later, or in the
  * next one with `direct`.
  *
  * @param gen
  *   an entry.
  * @param entries
  *   number of entries, including the oldest.
  * @param direct
  *   an entry to an empty queue is stored in the head directly: this is earlier, and adds logic after `in`.
  * @param gapless
  *   so is one that arrives while the only entry leaves: entries that arrive in consecutive cycles leave in consecutive
  *   cycles. This adds logic after `out.ready`, too.
  */
class HeadQueue[T <: Data](gen: T, entries: Int, direct: Boolean = false, gapless: Boolean = false) extends Module {
  val in = IO(Flipped(Decoupled(gen)))
  val out = IO(Decoupled(gen))
  val count = IO(Output(UInt(log2Ceil(entries + 1).W)))

  /** The oldest entry is not being replaced. */
  val settled = IO(Output(Bool()))

  private val head = Module(new Queue(gen, 1, pipe = true))
  private val others = Option.when(entries > 1)(Module(new Queue(gen, entries - 1)))
  others.foreach(_.io.enq <> in)
  head.io.enq <> others.fold(in)(_.io.deq)
  if (direct) others.foreach { others =>
    val passes = !head.io.deq.valid && !others.io.deq.valid
    others.io.enq.valid := in.valid && !passes
    when(passes) {
      head.io.enq.valid := in.valid
      head.io.enq.bits := in.bits
    }
  }
  if (gapless) others.foreach { others =>
    head.io.enq.valid := others.io.deq.valid || in.valid
    head.io.enq.bits := Mux(others.io.deq.valid, others.io.deq.bits, in.bits)
    others.io.enq.valid := in.valid && (others.io.deq.valid || !head.io.enq.ready)
  }
  out <> head.io.deq
  count := others.fold(0.U)(_.io.count) +& head.io.count
  settled := !head.io.enq.fire
}
