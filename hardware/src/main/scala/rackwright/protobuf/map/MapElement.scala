package rackwright.protobuf.map

import chisel3._
import chisel3.util._

import rackwright.protobuf.table.{DescriptorTable, FieldKind}

/** An element of a map, with the part of its key that is kept on chip. */
class MapElement extends Bundle {

  /** A number, or the first eight bytes of a string, encoded such that the unsigned order is the library's. */
  val key = UInt(64.W)

  /** Length and address of a string; 0 for a number. */
  val length = UInt(31.W)
  val text = UInt(DescriptorTable.addressBits.W)

  /** Address of the node of the hash table, or of the entry object. */
  val address = UInt(DescriptorTable.addressBits.W)

  /** The string has bytes from this offset on. */
  def reaches(offset: UInt): Bool = length > offset
}

/** Encodes keys for comparisons. */
object MapElement {

  /** The number at the start of a word. */
  def number(kind: UInt, word: UInt): UInt = {
    val half = word(31, 0)
    val isSigned = VecInit.tabulate(32)(i => signed.contains(i).B).asUInt(kind)
    val wide = Mux(isSigned, ~word(63) ## word(62, 0), word)
    val narrow = Mux(isSigned, ~half(31) ## half(30, 0), half)
    Mux(FieldKind.isBool(kind), word(7, 0).orR, Mux(FieldKind.isWide(kind), wide, narrow))
  }

  /** Eight bytes of a string as a number, the first one most significant, padded with zeros; `left` is the remaining
    * length of the string.
    */
  def text(word: UInt, left: UInt): UInt =
    Cat(Seq.tabulate(8)(byte => Mux(left > byte.U, word(8 * byte + 7, 8 * byte), 0.U(8.W))))

  private val signed = Set(
    FieldKind.int32,
    FieldKind.int64,
    FieldKind.sint32,
    FieldKind.sint64,
    FieldKind.sfixed32,
    FieldKind.sfixed64
  )
}
