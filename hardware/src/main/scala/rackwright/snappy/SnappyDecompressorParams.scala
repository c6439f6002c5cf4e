package rackwright.snappy

import rackwright.compression.{DecompressorParams, StreamSizes}
import rackwright.lz77.decode.DecoderParams
import rackwright.operation.Setting

/** The parameters of a Snappy decompressor.
  *
  * @param historyKib
  *   KiB of output stored on chip: a power of two, 2 to 64.
  * @param elementsPerCycle
  *   elements decoded and executed per cycle: 1 or 2.
  * @param lookahead
  *   elements that may wait between decoding and execution: a power of two, 16 to 256.
  * @param stream
  *   ports, and operations that may wait; finding elements requires the length of the remaining input, so that it
  *   cannot arrive in pieces.
  */
case class SnappyDecompressorParams(
    historyKib: Int = 64,
    elementsPerCycle: Int = 2,
    lookahead: Int = 256,
    stream: StreamSizes = StreamSizes()
) extends DecompressorParams {
  require(!streaming, "a Snappy decompressor takes no input in pieces")
  require(Set(1, 2).contains(elementsPerCycle), s"elements-per-cycle is 1 or 2, not $elementsPerCycle")

  /** The LZ77 decoder. Its buffer has 4 bytes of literals per waiting element, which is sufficient for text. */
  val decoder: DecoderParams = DecoderParams(
    port,
    historyBytes = historyKib * 1024,
    lanes = elementsPerCycle,
    lookahead = lookahead,
    literalBytes = 4 * lookahead.max(128)
  )

  val settings: Seq[Setting] = Seq(onChipHistory)
}
