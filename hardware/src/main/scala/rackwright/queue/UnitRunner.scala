package rackwright.queue

import chisel3._
import chisel3.util._

import rackwright.port.CommandPort

/** Has a unit do what an element asks for, by its commands. */
abstract class UnitRunner extends Module {

  /** Offered until the unit has ended, and longer while `hold`: `ready` is high together with `ending`. */
  val descriptor = IO(Flipped(Decoupled(new Descriptor)))
  val hold = IO(Input(Bool()))
  val ending = IO(Output(new Ending))

  /** The unit has ended. */
  val over = IO(Output(Bool()))
  val command = IO(Flipped(new CommandPort))
}
