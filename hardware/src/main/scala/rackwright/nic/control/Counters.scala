package rackwright.nic.control

import chisel3._

import rackwright.nic.port.Registers

/** The counts of a cycle: one amount per name of [[Counters.names]]. */
class Counters(amountBits: Int) extends Module {
  val amounts = IO(Input(Vec(Counters.names.size, UInt(amountBits.W))))
  val values = IO(Output(Vec(Counters.names.size, UInt(64.W))))

  private val counts = RegInit(VecInit.fill(Counters.names.size)(0.U(64.W)))
  for ((count, amount) <- counts.zip(amounts)) when(amount =/= 0.U) { count := count + amount }
  values := counts
}

/** The counters in the order of their registers; they are events too. */
object Counters {
  val names: Seq[String] = Registers.map.counters.map(_.name)
}
