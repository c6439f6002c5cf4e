package rackwright.protobuf.parse

import chisel3._

import rackwright.protobuf.table.WireType

/** What is known of a tag at the head of some bytes. */
class FieldKey extends Bundle {
  val number = UInt(29.W)
  val wire = UInt(3.W)

  /** Bytes of the tag. */
  val length = UInt(3.W)

  /** All bytes of the tag are there. */
  val complete = Bool()

  /** No bytes after those that are there can make a tag of it. */
  val endless = Bool()

  /** A complete tag that no message may have: field number 0, a wire type that doesn't exist. */
  val wrong = Bool()
}

/** Reads tags as the library does: at most 5 bytes, modulo 2^32. */
object FieldKey {
  val mostBytes: Int = 5

  /** The tag at the head of `data`, of which `available` bytes are there. */
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
