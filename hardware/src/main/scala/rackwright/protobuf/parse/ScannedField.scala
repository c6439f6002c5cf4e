package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.protobuf.table.{DescriptorLine, WireType}

/** An item of the input: a tag with its value, an element of a packed run, or the end of either. */
class ScannedField extends Bundle {
  val number = UInt(29.W)
  val wire = UInt(3.W)

  /** The wire value, with varints decoded; for length-delimited fields, the length. */
  val value = UInt(64.W)

  /** The string's characters have been consumed with its tag, and are padded with zeros. */
  val hasText = Bool()
  val text = UInt((8 * DeserializerStrings.inlineMost).W)

  /** Position of its tag, or of an element of a packed run; the length of tag and value, or of tag and length prefix.
    */
  val start = UInt(32.W)
  val bytes = UInt(4.W)

  /** An element of a packed run, without a tag. */
  val inRun = Bool()

  /** Distinguishes the messages of two consecutive requests. */
  val turn = Bool()

  /** The message, or the packed run, is exhausted; it ends after this item. */
  val end = Bool()
  val last = Bool()

  /** Status of an invalid tag; of an invalid value. */
  val tagFailure = Valid(UInt(Status.width.W))
  val valueFailure = Valid(UInt(Status.width.W))

  /** The bytes after it are parsed according to its type; it is complete and valid. */
  private def leads: Bool = !inRun && ((wire === WireType.lengthDelimited.U && !hasText) || WireType.isGroup(wire))
  private def isWhole: Bool = !end && !tagFailure.valid && !valueFailure.valid && !leads

  /** The scanner has not looked beyond it. */
  def halts: Bool = last || !isWhole

  /** The message ends with it, whatever its type is. */
  def exhausts: Bool = last && isWhole
}

/** A field with its table entry. */
class ResolvedField extends Bundle {
  val field = new ScannedField

  /** The line of its entry; undefined in a packed run. */
  val line = new DescriptorLine

  /** The table has no entry for it. */
  val unknown = Bool()

  /** It is not in the set of values of its closed enum. */
  val notInSet = Bool()
}
