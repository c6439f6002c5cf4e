package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.protobuf.table.WireType

/** Recognizes the fields that small messages consist of: a tag of one byte, then a varint of a few bytes or a number of
  * fixed size.
  *
  * What any field may be takes too long to find out for its bytes to leave the input in the same cycle; of these few it
  * doesn't.
  */
object QuickField {

  /** Most bytes of their varints. */
  private val mostVarintBytes: Int = 5

  /** Bytes that they may have, tag and value. */
  val lengths: Seq[Int] = (2 to 1 + mostVarintBytes) :+ 9

  /** The bytes of a field that has the length at that place of `lengths`, one-hot; 0 of none. */
  def bytes(quick: UInt): UInt = Mux1H(quick, lengths.map(_.U(log2Ceil(lengths.max + 1).W)))

  /** Which of `lengths` the field at the head of `data` has, one-hot; 0 if it is none of them.
    *
    * @param available
    *   bytes of `data` that are there.
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
