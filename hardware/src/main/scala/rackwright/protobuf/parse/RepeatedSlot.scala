package rackwright.protobuf.parse

import chisel3._

import rackwright.protobuf.table.DescriptorTable

/** An open repeated field: an array of `capacity` elements of 2^log2Bytes bytes, of which `size` are there. */
class RepeatedSlot extends Bundle {
  val valid = Bool()

  /** Offset of the field in its message's object. */
  val offset = UInt(32.W)

  /** Where the library has size, capacity and place of the array: all of a RepeatedField, all but the arena of a
    * RepeatedPtrField.
    */
  val holder = UInt(DescriptorTable.addressBits.W)

  /** Elements are pointers; the field is a map, whose object points to the RepeatedPtrField. */
  val pointers = Bool()
  val isMap = Bool()
  val log2Bytes = UInt(2.W)
  val array = UInt(DescriptorTable.addressBits.W)
  val size = UInt(31.W)
  val capacity = UInt(31.W)

  /** Bytes of the array; how many elements fit into as many; where the next element goes. */
  def bytes: UInt = RepeatedSlot.headerBytes.U + (capacity << log2Bytes)
  def capacityOf(bytes: UInt): UInt = (bytes - RepeatedSlot.headerBytes.U) >> log2Bytes
  def next: UInt = array + RepeatedSlot.headerBytes.U + (size << log2Bytes)
}

/** Constants of a [[RepeatedSlot]]. */
object RepeatedSlot {

  /** Bytes before the elements: the arena of a RepeatedField, the number of allocated elements of a RepeatedPtrField.
    */
  val headerBytes: Int = 8

  /** Bytes of a new array, header included; of one of messages, more, because it can't grow in place once a message has
    * an array of its own.
    */
  val chunk: Int = 64
  val messagesChunk: Int = 256

  /** Bytes that a map's RepeatedPtrField takes before its first array, and where its size lies in them: at a multiple
    * of 16, so that one store writes all but the arena.
    */
  val mapHeadBytes: Int = 32
  val mapHolder: Int = 16
}
