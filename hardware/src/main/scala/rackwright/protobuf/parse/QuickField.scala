package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.protobuf.table.WireType

/** Recognizes the fields that small messages consist of: a tag of one byte, then a varint of a few bytes or a number of
  * fixed size.
  *
  * For fields in general, the length is known too late for their bytes to be consumed in the same cycle; for these few
  * it is not.
  */
object QuickField {

  /** Maximum length of their varints. */
  private val mostVarintBytes: Int = 5

  /** Their possible lengths, including the tag. */
  val lengths: Seq[Int] = (2 to 1 + mostVarintBytes) :+ 9

  /** The length at an index of `lengths` that is one-hot, or 0. */
  def bytes(quick: UInt): UInt = Mux1H(quick, lengths.map(_.U(log2Ceil(lengths.max + 1).W)))

  /** The index in `lengths` of the field at the start of `data`, one-hot; 0 if it is not a quick field.
    *
    * @param available
    *   number of valid bytes of `data`.
    * @param bound
    *   bytes up to the end of the message.
    */
  def decode(data: UInt, available: UInt, bound: UInt): UInt = {
    val wire = data(2, 0)
    val hasTag = !data(7) && data(6, 3).orR
    val continues = Seq.tabulate(mostVarintBytes)(i => data(8 * (i + 1) + 7))
    val found = lengths.map { length =>
      val bytes = length - 1
      val isVarint = (bytes <= mostVarintBytes).B && wire === WireType.varint.U &&
        continues.take(bytes - 1).foldLeft(true.B)(_ && _) && !continues((bytes - 1).min(mostVarintBytes - 1))
      val isFixed = bytes match {
        case 4 => wire === WireType.fixed32.U
        case 8 => wire === WireType.fixed64.U
        case _ => false.B
      }
      (isVarint || isFixed) && available >= length.U && bound >= length.U
    }
    VecInit(found.map(_ && hasTag)).asUInt
  }
}
