package rackwright.mover

import chisel3._

/** A transfer of AXI4-Stream (IHI 0051): the bytes of `data` that `keep` marks belong to the frame. */
class Transfer(val bytes: Int) extends Bundle {
  val data = UInt((8 * bytes).W)
  val keep = UInt(bytes.W)
  val last = Bool()
}

/** A frame to move: its buffer, and the bytes of the frame, or of the room for one. */
class FrameRange extends Bundle {
  val address = UInt(64.W)
  val bytes = UInt(32.W)
}
