package rackwright.protobuf.parse

import chisel3._

import rackwright.protobuf.table.WireType

/** A decoded wire value, or length prefix. */
class WireValue extends Bundle {

  /** The value; for length-delimited fields, the length. */
  val value = UInt(64.W)

  /** Its length in bytes. */
  val length = UInt(4.W)

  /** All its bytes are available. */
  val complete = Bool()

  /** The varint is too long, or the library refuses the length. */
  val wrong = Bool()
}

/** Decodes values as the library does; group tags have a value of no bytes. */
object WireValue {

  /** Maximum length of a length prefix, and the largest length (3.21: ReadSizeFallback). */
  private val lengthBytes = 5
  private val mostLength = Int.MaxValue - 16

  /** Decodes the value at the start of `data`, of which `available` bytes are valid.
    *
    * @param wire
    *   the wire type.
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
