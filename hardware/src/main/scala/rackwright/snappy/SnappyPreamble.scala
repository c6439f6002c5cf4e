package rackwright.snappy

import chisel3._
import chisel3.util._

/** The length of the output, from the preamble of a stream: a varint of up to 5 bytes and 32 bits.
  *
  * As in the reference library, padding with zero bits is valid, a sixth byte or a 33rd bit is not.
  */
class SnappyPreamble extends Bundle {

  /** Enough bytes are available for a decision. */
  val known = Bool()

  /** The preamble ends within the available bytes and within 32 bits. */
  val valid = Bool()
  val bytes = UInt(3.W)
  val length = UInt(32.W)
}

/** Decoder of preambles. */
object SnappyPreamble {
  private val most = 5

  /** Decodes the preamble at bit 0 of `window` (40 bits), of which `available` bytes are valid. */
  def decode(window: UInt, available: UInt): SnappyPreamble = {
    val preamble = Wire(new SnappyPreamble)
    val bytes = Seq.tabulate(most)(i => window(8 * i + 7, 8 * i))
    val ends = bytes.zipWithIndex.map { case (byte, i) => !byte(7) && available > i.U }
    val overflows = bytes.last(6, 4).orR
    val isLast = PriorityEncoderOH(ends)

    preamble.known := ends.reduce(_ || _) || available >= most.U
    preamble.valid := ends.init.reduce(_ || _) || (ends.last && !overflows)
    preamble.bytes := Mux1H(isLast, (1 to most).map(_.U(3.W)))
    preamble.length := Mux1H(isLast, Seq.tabulate(most)(i => Cat(bytes.take(i + 1).map(_(6, 0)).reverse).pad(35)))(
      31,
      0
    )
    preamble
  }
}
