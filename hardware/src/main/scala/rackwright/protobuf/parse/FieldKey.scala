package rackwright.protobuf.parse

import chisel3._

import rackwright.protobuf.table.WireType

/** A decoded tag. */
class FieldKey extends Bundle {
  val number = UInt(29.W)
  val wire = UInt(3.W)

  /** Its length in bytes. */
  val length = UInt(3.W)

  /** All its bytes are available. */
  val complete = Bool()

  /** It has more than five bytes. */
  val endless = Bool()

  /** A complete but invalid tag: field number 0, or an undefined wire type. */
  val wrong = Bool()
}

/** Decodes tags as the library does: at most 5 bytes, modulo 2^32. */
object FieldKey {
  val mostBytes: Int = 5

  /** Decodes the tag at the start of `data`, of which `available` bytes are valid. */
  def decode(data: UInt, available: UInt): FieldKey = {
    val varint = Varint.decode(data, mostBytes)
    val key = Wire(new FieldKey)
    key.number := varint.value(31, 3)
    key.wire := varint.value(2, 0)
    key.length := varint.length
    key.complete := varint.complete && varint.length <= available
    key.endless := !varint.complete && available >= mostBytes.U
    key.wrong := key.number === 0.U || key.wire > WireType.fixed32.U
    key
  }
}
