package rackwright.access

import chisel3._

/** Where a streaming writer may write: at most `capacity` bytes from `address`, any alignment. */
class WriterRange extends Bundle {
  val address = UInt(64.W)
  val capacity = UInt(64.W)
}
