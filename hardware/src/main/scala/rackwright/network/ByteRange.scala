package rackwright.network

import chisel3._

/** Which bytes of a flit lie in a range of the frame. */
object ByteRange {

  /** A bit for each byte of a flit at `position` that is not before `start`. */
  def from(start: UInt, position: UInt, flitBytes: Int): UInt =
    VecInit((0 until flitBytes).map(lane => position +& lane.U >= start)).asUInt
}
