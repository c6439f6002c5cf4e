package rackwright.protobuf

import chisel3._
import chisel3.util._

/** How much is read before it is asked for. */
class SerializerReadAhead(params: SerializerParams) {
  private val offsetBits = log2Ceil(params.portBytes)
  private val mostBeats = (params.objectLines / 2).min((1 << SerializerCache.prefetchBits) - 1)
  private val mostBytes = (mostBeats - 1) * params.portBytes

  /** Of an object of so many bytes. */
  def ofObject(bytes: UInt): UInt = Mux(bytes > mostBytes.U, mostBytes.U, bytes(SerializerWalker.sizeBits - 1, 0))

  /** Pointers of an array are read ahead in groups of a power of two, three groups at first. */
  val group: Int = 16.min(1 << log2Floor(mostBytes / (3 * 8)))
  private val most = 3 * group

  /** Of `left` pointers: so many, the last ones, at first. */
  def pointers(left: UInt): UInt = Mux(left > most.U, most.U, left(log2Ceil(most + 1) - 1, 0))

  /** The next group is due when so many are left; it begins with this pointer. */
  def isDue(left: UInt): Bool = left > (2 * group).U && left(log2Ceil(group) - 1, 0) === 0.U
  def nextGroup(left: UInt): UInt = Mux(left > most.U, left - most.U, 0.U)

  /** The beats of so many bytes, at most those of an object. */
  def beats(address: UInt, bytes: UInt, since: UInt): SerializerPrefetch = {
    val ahead = Wire(new SerializerPrefetch(DescriptorTable.addressBits - offsetBits))
    val end = address(offsetBits - 1, 0) +& bytes +& (params.portBytes - 1).U
    ahead.since := since
    ahead.number := address >> offsetBits
    ahead.left := (end >> offsetBits).pad(SerializerCache.prefetchBits)(SerializerCache.prefetchBits - 1, 0)
    ahead.downward := false.B
    ahead
  }

  /** The same, the last one first: elements are walked from their end. */
  def beatsDownward(address: UInt, bytes: UInt, since: UInt): SerializerPrefetch = {
    val ahead = beats(address, bytes, since)
    val downward = WireDefault(ahead)
    downward.number := ahead.number + ahead.left - 1.U
    downward.downward := true.B
    downward
  }
}
