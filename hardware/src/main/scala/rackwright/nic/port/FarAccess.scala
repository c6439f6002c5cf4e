package rackwright.nic.port

import chisel3._

/** An access to registers outside, with the value of a read in the same cycle. */
class FarAccess extends Bundle {
  val valid = Output(Bool())
  val write = Output(Bool())
  val address = Output(UInt(12.W))
  val data = Output(UInt(64.W))
  val value = Input(UInt(64.W))
}
