package rackwright.zstd

import chisel3._

/** A sequence as it stands in the stream: so many literals, then a copy. */
class Sequence extends Bundle {
  val literals = UInt(Sequence.lengthBits.W)
  val matched = UInt(Sequence.lengthBits.W)

  /** `Offset_Value` of RFC 8878, section 3.1.1.3.2.1.1: 1 to 3 repeat an earlier offset. */
  val offsetValue = UInt(33.W)
}

object Sequence {

  /** Bits of a length: a code's baseline of up to 2^16 + 3 and 16 more bits. */
  val lengthBits: Int = 18
}
