package rackwright.port

import chisel3._

/** One beat of a stream port (contract 3): a part of a frame on the wire, with the names of AXI4-Stream.
  *
  * @param bytes
  *   bytes of a full beat; byte 0 is in the low bits of `data`.
  */
class StreamFlit(val bytes: Int) extends Bundle {
  val data = UInt((8 * bytes).W)

  /** A bit for each valid byte, from byte 0 on without a gap. */
  val keep = UInt(bytes.W)

  /** The end of a frame. */
  val last = Bool()
}
