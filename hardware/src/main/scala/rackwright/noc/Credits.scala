package rackwright.noc

import chisel3._
import chisel3.util._

/** A sender's credits for the queues behind a link: a lower bound of their free places.
  *
  * @param queues
  *   the sides whose queues the receiver has.
  * @param depth
  *   places in each.
  */
class Credits(queues: Seq[Side], depth: Int) extends Module {

  /** A bit for each queue to which a flit is sent in this cycle. */
  val spend = IO(Input(UInt(Side.bits.W)))

  /** A bit for each queue of which a credit was returned. */
  val returned = IO(Input(UInt(Side.bits.W)))

  /** A bit for each queue that has a place. */
  val available = IO(Output(UInt(Side.bits.W)))

  /** All credits have been returned: there are no flits behind the link or in flight. */
  val complete = IO(Output(Bool()))

  private val counts = queues.map { side =>
    val count = RegInit(depth.U(log2Ceil(depth + 1).W))
    val (spent, back) = (spend(side.index), returned(side.index))
    when(spent && !back) { count := count - 1.U }
    when(back && !spent) { count := count + 1.U }
    assert(!spent || count =/= 0.U, "a flit is sent without a credit")
    assert(!back || count =/= depth.U, "a credit comes back that was not spent")
    side -> count
  }.toMap
  available := VecInit(Side.all.map(side => counts.get(side).fold(false.B)(_ =/= 0.U))).asUInt
  complete := VecInit(counts.values.map(_ === depth.U).toSeq).asUInt.andR && returned === 0.U
}
