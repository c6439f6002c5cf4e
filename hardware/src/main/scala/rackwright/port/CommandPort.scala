package rackwright.port

import chisel3._
import chisel3.util._

/** One RoCC instruction as it leaves the core.
  *
  * `opcode` is the number n of `custom-n`; `xd` means that the core waits for a value of register `rd`.
  */
class Command extends Bundle {
  val opcode = UInt(2.W)
  val funct = UInt(7.W)
  val rs1 = UInt(64.W)
  val rs2 = UInt(64.W)
  val rd = UInt(5.W)
  val xd = Bool()
}

/** The value for the destination register of a command whose `xd` was set. */
class CommandResponse extends Bundle {
  val rd = UInt(5.W)
  val data = UInt(64.W)
}

/** The command port seen from the unit. Commands are accepted in order, and responses are sent in order. */
class CommandPort extends Bundle {
  val request = Flipped(Decoupled(new Command))
  val response = Decoupled(new CommandResponse)
}
