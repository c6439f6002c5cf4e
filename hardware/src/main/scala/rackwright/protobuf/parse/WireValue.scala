package rackwright.protobuf.parse

import chisel3._

import rackwright.protobuf.table.WireType

/** What is known of a value, or of the length of one, at the head of some bytes. */
class WireValue extends Bundle {

  /** As it is written; a length for what is length-delimited. */
  val value = UInt(64.W)

  /** Bytes it takes in the input. */
  val length = UInt(4.W)

  /** All its bytes are there. */
  val complete = Bool()

  /** No bytes after those that are there can make a value of it, or it is a length that the library refuses. */
  val wrong = Bool()
}

/** Reads values as the library does; the tags of groups have none, of no bytes. */
object WireValue {

  /** Lengths have at most this many bytes, and this is the largest one (3.21: ReadSizeFallback). */
  private val lengthBytes = 5
  private val mostLength = Int.MaxValue - 16

  /** The value at the head of `data`, of which `available` bytes are there.
    *
    * @param wire
    *   how it is written.
    */
  def decode(data: UInt, available: UInt, wire: UInt): WireValue = {
    val varint = Varint.decode(data, FieldValue.mostBytes)
    val isLength = wire === WireType.lengthDelimited.U
    val fixed = wire === WireType.fixed32.U || wire === WireType.fixed64.U
    val isNone = WireType.isGroup(wire)
    val found = Wire(new WireValue)
    found.value := Mux(fixed, data(63, 0), varint.value)
    found.length := Mux(isNone, 0.U, Mux(fixed, Mux(wire === WireType.fixed64.U, 8.U, 4.U), varint.length))
    found.complete := isNone || ((fixed || varint.complete) && found.length <= available)
    val tooLong = found.complete && (varint.length > lengthBytes.U || varint.value > mostLength.U)
    val endless = available >= FieldValue.mostBytes.U || (isLength && available >= lengthBytes.U)
    found.wrong := !fixed && !isNone && ((!varint.complete && endless) || (isLength && tooLong))
    found
  }
}
