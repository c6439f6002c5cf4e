package rackwright.internet

import chisel3._

/** The counters: up to this number of events of each name per cycle. */
class Counters extends Module {
  val amounts = IO(Input(Vec(Counters.names.size, UInt(Counters.amountBits.W))))
  val values = IO(Output(Vec(Counters.names.size, UInt(Counters.bits.W))))

  /** No event was counted in the last cycle. */
  val idle = IO(Output(Bool()))

  private val counts = RegInit(VecInit.fill(Counters.names.size)(0.U(Counters.bits.W)))
  private val taken = RegNext(amounts, 0.U.asTypeOf(amounts))
  for ((count, amount) <- counts.zip(taken)) when(amount =/= 0.U) { count := count + amount }
  values := counts
  idle := taken.asUInt === 0.U
}

/** The counters in the order of their registers; they are events too. */
object Counters {
  val names: Seq[String] = Registers.counters

  /** Width of a counter. */
  val bits: Int = 48

  /** Width of the amount added per cycle. */
  val amountBits: Int = 3
}
