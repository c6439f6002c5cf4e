package rackwright.zstd

import chisel3._

/** A decoded sequence: a number of literals to copy from the literals section, then a match to copy from the history.
  */
class Sequence extends Bundle {
  val literals = UInt(Sequence.lengthBits.W)
  val matched = UInt(Sequence.lengthBits.W)

  /** `Offset_Value` of RFC 8878, section 3.1.1.3.2.1.1: values 1 to 3 select a repeated offset. */
  val offsetValue = UInt(33.W)
}

object Sequence {

  /** Width of a length field: the largest baseline is 2^16 + 3, with up to 16 extra bits. */
  val lengthBits: Int = 18
}
