package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.protobuf.table.DescriptorTable

/** How much is prefetched. */
class SerializerReadAhead(params: SerializerParams) {
  private val offsetBits = log2Ceil(params.portBytes)
  private val mostBeats = (params.objectLines / 2).min((1 << SerializerCache.prefetchBits) - 1)
  private val mostBytes = (mostBeats - 1) * params.portBytes

  /** Bytes of an object of this size. */
  def ofObject(bytes: UInt): UInt = Mux(bytes > mostBytes.U, mostBytes.U, bytes(SerializerWalker.sizeBits - 1, 0))

  /** Pointers of an array are prefetched in groups of a power of two, three groups at first. */
  val group: Int = 16.min(1 << log2Floor(mostBytes / (3 * 8)))
  private val most = 3 * group

  /** Number of pointers, of `left` remaining ones, to prefetch at first: the last ones. */
  def pointers(left: UInt): UInt = Mux(left > most.U, most.U, left(log2Ceil(most + 1) - 1, 0))

  /** The next group is due at this number of remaining pointers; it begins with this pointer. */
  def isDue(left: UInt): Bool = left > (2 * group).U && left(log2Ceil(group) - 1, 0) === 0.U
  def nextGroup(left: UInt): UInt = Mux(left > most.U, left - most.U, 0.U)

  /** The beats of a range of bytes, at most those of an object; `downward` from the last one. */
  def beats(address: UInt, bytes: UInt, since: UInt, downward: Boolean = false): SerializerPrefetch = {
    val ahead = Wire(new SerializerPrefetch(DescriptorTable.addressBits - offsetBits))
    val end = address(offsetBits - 1, 0) +& bytes +& (params.portBytes - 1).U
    val first = address >> offsetBits
    ahead.since := since
    ahead.number := (if (downward) first + ahead.left - 1.U else first)
    ahead.left := (end >> offsetBits).pad(SerializerCache.prefetchBits)(SerializerCache.prefetchBits - 1, 0)
    ahead.downward := downward.B
    ahead
  }
}
