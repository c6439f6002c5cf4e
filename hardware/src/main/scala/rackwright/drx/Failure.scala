package rackwright.drx

import chisel3._
import chisel3.util._

import rackwright.port.Status

/** The cause of a program's failure, and the instruction. */
class Failure(params: Params) extends Bundle {
  val status = UInt(Status.width.W)
  val index = UInt(params.indexBits.W)
}

object Failure {

  /** The first of several failures that is present, if any. */
  def first(params: Params, failures: (Bool, UInt, UInt)*): Valid[Failure] = {
    val found = Wire(Valid(new Failure(params)))
    found.valid := failures.map(_._1).reduce(_ || _)
    found.bits.status := PriorityMux(failures.map { case (failed, status, _) => failed -> status })
    found.bits.index := PriorityMux(failures.map { case (failed, _, index) => failed -> index })
    found
  }
}
