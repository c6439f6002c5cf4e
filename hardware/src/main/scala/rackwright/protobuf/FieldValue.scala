package rackwright.protobuf

import chisel3._
import chisel3.util._

/** A value as it lies in memory. */
class FieldValue extends Bundle {
  val value = UInt(64.W)

  /** It is outside of the range of its closed enum. */
  val outsideEnum = Bool()
}

/** Makes values of what is written. */
object FieldValue {
  val mostBytes: Int = 10

  /** The value of a field that is written as `raw`; of what is length-delimited, its length. */
  def of(raw: UInt, entry: DescriptorEntry): FieldValue = {
    val kind = entry.kind
    val known = Wire(new FieldValue)
    known.value := MuxCase(
      raw,
      Seq(
        FieldKind.isBool(kind) -> raw.orR,
        (kind === FieldKind.sint32.U) -> Varint.unzigzag(raw(31, 0)),
        (kind === FieldKind.sint64.U) -> Varint.unzigzag(raw)
      )
    )
    val enumerator = raw(31, 0).asSInt
    known.outsideEnum := entry.closedEnum && (enumerator < entry.enumLeast || enumerator > entry.enumMost)
    known
  }

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
