package rackwright.protobuf.parse

import chisel3._

import rackwright.protobuf.table.DescriptorTable

/** An open repeated field: an array with room for `capacity` elements of 2^log2Bytes bytes, of which `size` are used.
  */
class RepeatedSlot extends Bundle {
  val valid = Bool()

  /** Offset of the field in its message's object. */
  val offset = UInt(32.W)

  /** Address of size, capacity and array pointer in the library's object: the start of a RepeatedField, or the part of
    * a RepeatedPtrField after its arena.
    */
  val holder = UInt(DescriptorTable.addressBits.W)

  /** Elements are pointers; the field is a map, whose object points to the RepeatedPtrField. */
  val pointers = Bool()
  val isMap = Bool()
  val log2Bytes = UInt(2.W)
  val array = UInt(DescriptorTable.addressBits.W)
  val size = UInt(31.W)
  val capacity = UInt(31.W)

  /** Size of the array in bytes; the number of elements that fit into a size; the address of the next element. */
  def bytes: UInt = RepeatedSlot.headerBytes.U + (capacity << log2Bytes)
  def capacityOf(bytes: UInt): UInt = (bytes - RepeatedSlot.headerBytes.U) >> log2Bytes
  def next: UInt = array + RepeatedSlot.headerBytes.U + (size << log2Bytes)
}

/** Constants of a [[RepeatedSlot]]. */
object RepeatedSlot {

  /** Bytes in front of the elements: the arena of a RepeatedField, or the number of allocated elements of a
    * RepeatedPtrField.
    */
  val headerBytes: Int = 8

  /** Size of a new array in bytes, including its header; larger for sub-messages, because their arrays cannot grow in
    * place once one of them has an array of its own.
    */
  val chunk: Int = 64
  val messagesChunk: Int = 256

  /** Size in bytes of a map's RepeatedPtrField in front of its first array, and the offset of its size: a multiple of
    * 16, so that one store writes all but the arena.
    */
  val mapHeadBytes: Int = 32
  val mapHolder: Int = 16
}
