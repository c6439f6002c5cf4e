package rackwright.snappy

import rackwright.compression.{DecompressorParams, StreamSizes}
import rackwright.lz77.decode.DecoderParams
import rackwright.operation.Setting

/** What a user chooses for a Snappy decompressor.
  *
  * @param historyKib
  *   KiB of output kept on chip: a power of two, 2 to 64.
  * @param elementsPerCycle
  *   elements decoded and executed per cycle: 1 or 2.
  * @param lookahead
  *   elements that may wait between decoding and execution: a power of two, 16 to 256.
  * @param stream
  *   ports, and operations that may wait; the elements are found by how much of the input is left, so that it does not
  *   come in pieces.
  */
case class SnappyDecompressorParams(
    historyKib: Int = 64,
    elementsPerCycle: Int = 2,
    lookahead: Int = 256,
    stream: StreamSizes = StreamSizes()
) extends DecompressorParams {
  require(!streaming, "a Snappy decompressor takes no input in pieces")
  require(Set(1, 2).contains(elementsPerCycle), s"elements-per-cycle is 1 or 2, not $elementsPerCycle")

  /** The LZ77 decoder. Its buffer holds 4 bytes of literals per element that waits, which is what text needs. */
  val decoder: DecoderParams = DecoderParams(
    port,
    historyBytes = historyKib * 1024,
    lanes = elementsPerCycle,
    lookahead = lookahead,
    literalBytes = 4 * lookahead.max(128)
  )

  val settings: Seq[Setting] = Seq(onChipHistory)
}
