package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.protobuf.table.{DescriptorEntry, DescriptorTable, FieldKind, WireType}

/** A value in its representation in memory. */
class FieldValue extends Bundle {
  val value = UInt(64.W)

  /** It is outside of the range of closed enum values that the entry's map covers. */
  val unmapped = Bool()
}

/** Converts values from the wire format to memory. */
object FieldValue {
  val mostBytes: Int = 10

  /** The value of a field whose wire value is `raw`; for length-delimited fields, the length. */
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
    known.unmapped := entry.closedEnum && !entry.inSet && !isMapped(raw(31, 0), entry)
    known
  }

  /** Whether the entry's map contains a value. Values in its range have at most nine bits. */
  private def isMapped(number: UInt, entry: DescriptorEntry): Bool = {
    val isNear = number(31, 8).andR || !number(31, 8).orR
    val index = (number(8, 0).asSInt -& entry.enumLeast).asUInt
    val isInMap = index < DescriptorTable.mappedValues.U
    isNear && isInMap && entry.enumMap.pad(1 << log2Ceil(DescriptorTable.mappedValues))(
      index(log2Ceil(DescriptorTable.mappedValues) - 1, 0)
    )
  }

  /** The wire type of a field type outside of packed runs. */
  def wireOf(kind: UInt): UInt = MuxCase(
    WireType.varint.U(3.W),
    Seq(
      FieldKind.isFixed32(kind) -> WireType.fixed32.U,
      FieldKind.isFixed64(kind) -> WireType.fixed64.U,
      (FieldKind.isStringLike(kind) || FieldKind.isMessage(kind)) -> WireType.lengthDelimited.U
    )
  )
}
