package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.protobuf.table.{DescriptorEntry, DescriptorTable, FieldKind, WireType}

/** A value as it lies in memory. */
class FieldValue extends Bundle {
  val value = UInt(64.W)

  /** It is none that the map of its closed enum tells of. */
  val unmapped = Bool()
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
    known.unmapped := entry.closedEnum && !entry.inSet && !isMapped(raw(31, 0), entry)
    known
  }

  /** Whether an entry's map has a value. Those of which it can tell have no more than nine bits. */
  private def isMapped(number: UInt, entry: DescriptorEntry): Bool = {
    val isNear = number(31, 8).andR || !number(31, 8).orR
    val index = (number(8, 0).asSInt -& entry.enumLeast).asUInt
    val isInMap = index < DescriptorTable.mappedValues.U
    isNear && isInMap && entry.enumMap.pad(1 << log2Ceil(DescriptorTable.mappedValues))(
      index(log2Ceil(DescriptorTable.mappedValues) - 1, 0)
    )
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
