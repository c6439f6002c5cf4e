package rackwright.access

import chisel3._

/** The range for a streaming writer: at most `capacity` bytes from `address`, any alignment. */
class WriterRange extends Bundle {
  val address = UInt(64.W)
  val capacity = UInt(64.W)
}
