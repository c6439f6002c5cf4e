package rackwright.lz77.decode

import chisel3.util._

import rackwright.port.MemoryPortParams

/** Shape of an LZ77 decoder.
  *
  * @param port
  *   the port of the fall-back reads. Its `bytes` is also the line of the history and the most bytes produced in a
  *   cycle.
  * @param historyBytes
  *   bytes of the history on chip; a power of two from 2 KiB to 64 KiB.
  * @param lanes
  *   segments taken in and executed per cycle, 1 or 2. Each lane adds a read port to the history.
  * @param lookahead
  *   segments between decoding and execution, which hide the latency of fall-back reads.
  * @param literalBytes
  *   bytes of the buffer for the literals of those segments.
  * @param literalReserve
  *   free lines of that buffer: for those that may be in progress when it reports that it has no room, and two that are
  *   being written.
  * @param literalsAhead
  *   literals arrive long before their segments, and have a separate signal for room.
  * @param dictionary
  *   copies may also read a dictionary, which is in memory and precedes the output.
  */
case class DecoderParams(
    port: MemoryPortParams = MemoryPortParams(32),
    historyBytes: Int = 64 * 1024,
    lanes: Int = 2,
    lookahead: Int = 128,
    literalBytes: Int = 1024,
    literalReserve: Int = 8,
    literalsAhead: Boolean = false,
    dictionary: Boolean = false
) {
  require(
    isPow2(historyBytes) && historyBytes >= DecoderParams.leastHistory && historyBytes <= DecoderParams.mostHistory,
    s"the history is a power of two from ${DecoderParams.leastHistory} to ${DecoderParams.mostHistory} bytes, not $historyBytes"
  )
  require(Set(1, 2).contains(lanes), s"a decoder has 1 or 2 lanes, not $lanes")
  require(
    isPow2(lookahead) && lookahead >= 4 * lanes,
    s"lookahead is a power of two of at least ${4 * lanes}, not $lookahead"
  )
  require(
    isPow2(literalBytes) && literalBytes >= 16 * port.bytes,
    s"literalBytes is a power of two of at least ${16 * port.bytes}, not $literalBytes"
  )
  require(
    literalReserve >= 8 && 2 * literalReserve * port.bytes <= literalBytes,
    s"literalReserve is 8 lines or more and at most half of literalBytes, not $literalReserve"
  )

  /** Bytes of a line, and the most bytes produced in one cycle. */
  val bytes: Int = port.bytes

  /** Bits of a position inside a line. */
  val lineBits: Int = log2Ceil(bytes)

  /** Width of a number of bytes from 0 to a whole line. */
  val countBits: Int = log2Ceil(bytes + 1)

  /** Bits of an offset that the history can serve. */
  val offsetBits: Int = log2Ceil(historyBytes + 1)

  /** Bits that name a line fetched by a fall-back read: the tag of the read. */
  val slotBits: Int = port.tagBits

  /** Width of the address of a line in any source memory of pieces. */
  val sourceLineBits: Int = Seq(historyBytes, literalBytes).map(size => log2Ceil(size / bytes)).max.max(slotBits)
}

/** Limits that software sees too. */
object DecoderParams {

  /** Smallest history, in bytes. Sources beyond it are always written out long before they are read back. */
  val leastHistory: Int = 2 * 1024

  /** Largest history, in bytes: the farthest offset that Snappy's own compressor emits. */
  val mostHistory: Int = 64 * 1024
}
