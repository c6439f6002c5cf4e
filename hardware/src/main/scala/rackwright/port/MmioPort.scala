package rackwright.port

import chisel3._
import chisel3.util._

/** One access of the core to a register: an address within a page of 4 KiB, multiple of 8. */
class MmioRequest extends Bundle {
  val address = UInt(12.W)
  val write = Bool()
  val data = UInt(64.W)
}

/** The answer to one access; of no meaning after a write. */
class MmioResponse extends Bundle {
  val data = UInt(64.W)
}

/** Register accesses, seen from the core. Every access, read or write, is answered, in order. */
class MmioPort extends Bundle {
  val request = Decoupled(new MmioRequest)
  val response = Flipped(Decoupled(new MmioResponse))
}
