package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.protobuf.table.{DescriptorLine, WireType}

/** What was found in the input: a tag and the value behind it, an element of a packed run, or the end of either. */
class ScannedField extends Bundle {
  val number = UInt(29.W)
  val wire = UInt(3.W)

  /** The value as it is written, a varint without its groups; a length for what is length-delimited. */
  val value = UInt(64.W)

  /** Its characters were taken off the input with it: those of a string, in zeros. */
  val hasText = Bool()
  val text = UInt((8 * DeserializerStrings.inlineMost).W)

  /** Where in the input its tag was, or where an element of a run was; the bytes of tag and value, or of tag and
    * length.
    */
  val start = UInt(32.W)
  val bytes = UInt(4.W)

  /** It belongs to a packed run, and has no tag. */
  val inRun = Bool()

  /** Tells the requests of two messages apart that follow each other. */
  val turn = Bool()

  /** Nothing is left of the message, or of the run; or nothing is left behind it. */
  val end = Bool()
  val last = Bool()

  /** There is no tag, for this reason; there is no value. */
  val tagFailure = Valid(UInt(Status.width.W))
  val valueFailure = Valid(UInt(Status.width.W))

  /** Bytes after it are to be read as what its type says; it is to be read as a whole, and nothing has failed. */
  private def leads: Bool = !inRun && ((wire === WireType.lengthDelimited.U && !hasText) || WireType.isGroup(wire))
  private def isWhole: Bool = !end && !tagFailure.valid && !valueFailure.valid && !leads

  /** Nothing behind it has been looked at. */
  def halts: Bool = last || !isWhole

  /** The message ends with it, whatever its type. */
  def exhausts: Bool = last && isWhole
}

/** A field, and what the table says about it. */
class ResolvedField extends Bundle {
  val field = new ScannedField

  /** The line of its entry; of no meaning in a run. */
  val line = new DescriptorLine

  /** The table has no entry for it. */
  val unknown = Bool()

  /** The values of its closed enum are in a set, and it is none of them. */
  val notInSet = Bool()
}
