package rackwright.daronpon

import chisel3._

/** A module with counters. By default nothing is counted in a cycle. */
trait Counts { this: Module =>

  /** Counter increments of this cycle, in the order of [[Counters.names]]. */
  val amounts = IO(Output(Vec(Counters.names.size, UInt(Sizes.countBits.W))))
  amounts.foreach(_ := 0.U)

  protected def count(name: String, amount: UInt = 1.U): Unit = amounts(Counters.names.indexOf(name)) := amount
}
