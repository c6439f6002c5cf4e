package rackwright.protobuf

import chisel3._
import chisel3.util._

/** What is known of a value, or of the length of one, at the head of some bytes. */
class FieldValue extends Bundle {

  /** As it lies in memory; a length for what is length-delimited. */
  val value = UInt(64.W)

  /** Bytes it takes in the input. */
  val length = UInt(4.W)

  /** All its bytes are there. */
  val complete = Bool()

  /** No bytes after those that are there can make a value of it, or it is a length that the library refuses. */
  val wrong = Bool()

  /** The value is outside of the range of its closed enum. */
  val outsideEnum = Bool()
}

/** Reads values as the library does. */
object FieldValue {
  val mostBytes: Int = 10

  /** Lengths have at most this many bytes, and this is the largest one (3.21: ReadSizeFallback). */
  private val lengthBytes = 5
  private val mostLength = Int.MaxValue - 16

  /** The value at the head of `data`, of which `available` bytes are there.
    *
    * @param wire
    *   how it is written.
    */
  def decode(data: UInt, available: UInt, wire: UInt, entry: DescriptorEntry): FieldValue = {
    val varint = Varint.decode(data, mostBytes)
    val isLength = wire === WireType.lengthDelimited.U
    val fixed = wire === WireType.fixed32.U || wire === WireType.fixed64.U
    val tooLong = isLength && varint.complete && (varint.length > lengthBytes.U || varint.value > mostLength.U)
    val endless = !varint.complete && available >= mostBytes.U
    val integer = Mux(FieldKind.isZigzag(entry.kind), unzigzag(varint.value, entry.kind), varint.value)
    val known = Wire(new FieldValue)
    known.value := MuxCase(
      integer,
      Seq(fixed -> data(63, 0), isLength -> varint.value, FieldKind.isBool(entry.kind) -> varint.value.orR)
    )
    known.length := Mux(fixed, Mux(wire === WireType.fixed64.U, 8.U, 4.U), varint.length)
    known.complete := (fixed || varint.complete) && known.length <= available
    known.wrong := !fixed && (endless || (isLength && !varint.complete && available >= lengthBytes.U) || tooLong)
    val enumerator = varint.value(31, 0).asSInt
    known.outsideEnum := entry.closedEnum && (enumerator < entry.enumLeast || enumerator > entry.enumMost)
    known
  }

  /** The 32-bit form looks at the low half of the varint only. */
  private def unzigzag(value: UInt, kind: UInt): UInt =
    Mux(kind === FieldKind.sint32.U, Varint.unzigzag(value(31, 0)).pad(64), Varint.unzigzag(value))

  /** How a value of that type is written when it stands alone. */
  def wireOf(kind: UInt): UInt = MuxCase(
    WireType.varint.U(3.W),
    Seq(
      FieldKind.isFixed32(kind) -> WireType.fixed32.U,
      FieldKind.isFixed64(kind) -> WireType.fixed64.U,
      (FieldKind.isStringLike(kind) || FieldKind.isMessage(kind)) -> WireType.lengthDelimited.U
    )
  )
}
