package rackwright.entropy.bits

import chisel3._
import chisel3.util._

/** A priority encoder for the lowest set bit. Combinational, in two levels: groups, and the bits of a group.
  *
  * @param bits
  *   the bits, at least one of which is set.
  */
class FirstSet(bits: UInt) {
  private val width = 1 << (log2Ceil(bits.getWidth) / 2)
  require(bits.getWidth % width == 0, s"${bits.getWidth} bits in groups of $width")
  private val groups = Seq.tabulate(bits.getWidth / width)(i => bits(width * (i + 1) - 1, width * i))
  private val group = PriorityEncoderOH(groups.map(_.orR))
  private val within = PriorityEncoderOH(Mux1H(group, groups))

  /** Index of the lowest set bit. */
  val place: UInt = Cat(OHToUInt(group), OHToUInt(within))

  /** The bits without the lowest set one. */
  val rest: UInt = bits & ~Cat(group.reverse.map(chosen => Mux(chosen, within, 0.U(width.W))))
}

object FirstSet {
  def apply(bits: UInt): FirstSet = new FirstSet(bits)
}
