package rackwright.daronpon

import chisel3._

/** A box that counts: in each cycle nothing, unless it says otherwise. */
trait Counts { this: Module =>

  /** What is counted in this cycle, in the order of [[Counters.names]]. */
  val amounts = IO(Output(Vec(Counters.names.size, UInt(Sizes.countBits.W))))
  amounts.foreach(_ := 0.U)

  protected def count(name: String, amount: UInt = 1.U): Unit = amounts(Counters.names.indexOf(name)) := amount
}
