package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.protobuf.table.DescriptorTable

/** The saved state of a message while one of its sub-messages is walked. */
class WalkedMessage extends Bundle {
  val message = UInt(DescriptorTable.addressBits.W)
  val position = new ListPosition
  val hasbits = UInt(32.W)

  /** The hasbits `64 * part` to `64 * part + 63`, if they are known. */
  val presence = Valid(UInt(64.W))
  val part = UInt(SerializerList.partBits.W)

  /** Size of the message in bytes, as far as it is prefetched. */
  val size = UInt(SerializerWalker.sizeBits.W)

  /** The field that is walked. */
  val items = new WalkedItems
}

/** The remaining messages or strings of a field. */
class WalkedItems extends Bundle {

  /** The tag of the field, and the table of its messages. */
  val tag = UInt(32.W)
  val table = UInt(DescriptorTable.addressBits.W)

  /** The pointers of an array, unless the elements are those of a map. */
  val array = UInt(DescriptorTable.addressBits.W)
  val isMap = Bool()

  /** Number of remaining elements. */
  val left = UInt(31.W)

  /** The next element to enter, which may be known in advance. */
  val next = Valid(UInt(DescriptorTable.addressBits.W))
}
