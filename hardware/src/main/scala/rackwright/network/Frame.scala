package rackwright.network

import chisel3.util.log2Ceil

/** Sizes on the wire. */
object Frame {

  /** Clock of the wire (Karandikar 2024, section 2.3). */
  val hertz: Long = 3200000000L

  /** Bytes of a flit, one of which is transferred per cycle: 204.8 Gbit/s. */
  val flitBytes: Int = 8

  /** The supported numbers of bytes that a unit accepts per cycle of its own. */
  val widths: Seq[Int] = Seq(flitBytes, 2 * flitBytes)

  /** The clock at which a unit with this number of bytes per cycle has the rate of the wire. */
  def hertzFor(bytes: Int): Long = hertz * flitBytes / bytes

  /** Longest frame, in bytes: a jumbo frame with room for tags. */
  val maxBytes: Int = 9600

  /** Bytes that the shortest frame of Ethernet takes. */
  val leastBytes: Int = 64

  /** Width of a number of bytes of a frame. */
  val lengthBits: Int = log2Ceil(maxBytes + 1)

  /** Width of the number of bytes in a flit. */
  val countBits: Int = Flit.countBits(flitBytes)
}
