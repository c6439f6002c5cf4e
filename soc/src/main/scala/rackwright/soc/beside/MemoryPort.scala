package rackwright.soc

import chisel3._
import chisel3.util._

/** One beat asked for by a unit. */
class MemoryRequest(val port: MemorySpec) extends Bundle {
  val address = UInt(port.addressBits.W)
  val write = Bool()
  val data = UInt((8 * port.bytes).W)
  val mask = UInt(port.bytes.W)
  val tag = UInt(port.tagBits.W)
}

/** The answer to one beat. */
class MemoryResponse(val port: MemorySpec) extends Bundle {
  val tag = UInt(port.tagBits.W)
  val data = UInt((8 * port.bytes).W)
  val fault = Bool()
}

/** A memory port of a unit, seen from memory. */
class MemoryPort(val port: MemorySpec) extends Bundle {
  val request = Flipped(Decoupled(new MemoryRequest(port)))
  val response = Decoupled(new MemoryResponse(port))
}
