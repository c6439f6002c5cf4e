package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.protobuf.table.DescriptorTable

/** What is kept of a message while one of its sub-messages is walked. */
class WalkedMessage extends Bundle {
  val message = UInt(DescriptorTable.addressBits.W)
  val position = new ListPosition
  val hasbits = UInt(32.W)

  /** The hasbits `64 * part` to `64 * part + 63`, as far as they are known. */
  val presence = Valid(UInt(64.W))
  val part = UInt(SerializerList.partBits.W)

  /** Bytes of the message, as far as they are read ahead. */
  val size = UInt(SerializerWalker.sizeBits.W)

  /** The field that is walked. */
  val items = new WalkedItems
}

/** What is left of the messages or strings of a field. */
class WalkedItems extends Bundle {

  /** How the field is written, and the table of its messages. */
  val tag = UInt(32.W)
  val table = UInt(DescriptorTable.addressBits.W)

  /** Pointers of an array, unless the elements are a map's. */
  val array = UInt(DescriptorTable.addressBits.W)
  val isMap = Bool()

  /** Elements that are left. */
  val left = UInt(31.W)

  /** The element to enter next, which may be known before its turn. */
  val next = Valid(UInt(DescriptorTable.addressBits.W))
}
