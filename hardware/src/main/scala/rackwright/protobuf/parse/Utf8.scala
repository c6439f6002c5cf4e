package rackwright.protobuf.parse

import chisel3._

/** Whether bytes are well-formed UTF-8 (Unicode 15, table 3-7: no surrogates, nothing above U+10FFFF, shortest form).
  */
object Utf8 {

  /** Number of preceding bytes that the check needs. */
  val carryBytes: Int = 3

  /** Whether `bytes` contain an error, given the three preceding bytes (the latest last; 0 if there are none).
    *
    * The last character may be incomplete.
    */
  def wrong(before: Seq[UInt], bytes: Seq[UInt]): Bool = {
    val all = before ++ bytes
    VecInit(bytes.indices.map { i =>
      val (third, second, previous, byte) = (all(i), all(i + 1), all(i + 2), all(i + 3))
      val continues = byte(7, 6) === 2.U
      val mustContinue = previous >= 0xc0.U || second >= 0xe0.U || third >= 0xf0.U
      val never = byte === 0xc0.U || byte === 0xc1.U || byte >= 0xf5.U
      val tooSmall = (previous === 0xe0.U && byte < 0xa0.U) || (previous === 0xf0.U && byte < 0x90.U)
      val tooLarge = (previous === 0xed.U && byte > 0x9f.U) || (previous === 0xf4.U && byte > 0x8f.U)
      continues =/= mustContinue || never || tooSmall || tooLarge
    }).asUInt.orR
  }

  /** Whether the last bytes are an incomplete character. */
  def unfinished(last: Seq[UInt]): Bool = last(2) >= 0xc0.U || last(1) >= 0xe0.U || last(0) >= 0xf0.U
}
