package rackwright.entropy.bits

import chisel3._

/** [[BackwardBits]] as its consumer sees it.
  *
  * @param shown
  *   bits of the window.
  */
class BitSource(val shown: Int) extends Bundle {
  val open = Output(Bool())

  /** The next bits, the first one highest; `count` of them are valid. */
  val window = Output(UInt(shown.W))
  val count = Output(UInt(8.W))

  /** Bits of the stream that were not taken. */
  val left = Output(SInt(BackwardBits.leftBits.W))
  val take = Input(Bool())
  val bits = Input(UInt(7.W))

  /** The first `count` bits after `skip` others, at most `most`, as a number. */
  def number(skip: Int, count: UInt, most: Int): UInt = {
    val field = window(shown - 1 - skip, shown - skip - most)
    (field >> (most.U - count))(most - 1, 0)
  }
}
