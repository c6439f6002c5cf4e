package rackwright.mover

import chisel3._
import chisel3.util._

/** A write of registers: data with a bit for each byte. */
class LiteWriteData(bytes: Int) extends Bundle {
  val data = UInt((8 * bytes).W)
  val strb = UInt(bytes.W)
}

/** The value of registers that were read. */
class LiteReadData(bytes: Int) extends Bundle {
  val data = UInt((8 * bytes).W)
  val resp = UInt(2.W)
}

/** AXI4-Lite (IHI 0022) with addresses within a page, seen from the manager. */
class LitePort(bytes: Int) extends Bundle {
  val aw = Decoupled(UInt(LitePort.addressBits.W))
  val w = Decoupled(new LiteWriteData(bytes))
  val b = Flipped(Decoupled(UInt(2.W)))
  val ar = Decoupled(UInt(LitePort.addressBits.W))
  val r = Flipped(Decoupled(new LiteReadData(bytes)))
}

/** Constants of AXI4-Lite. */
object LitePort {

  /** Bits of an address in a page. */
  val addressBits: Int = 12

  /** The access succeeded. */
  val okay: UInt = 0.U(2.W)

  /** The subordinate reports an error. */
  val slaveError: UInt = 2.U(2.W)
}
