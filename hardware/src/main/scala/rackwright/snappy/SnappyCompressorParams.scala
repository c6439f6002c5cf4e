package rackwright.snappy

import rackwright.compression.CompressorParams
import rackwright.lz77.EncoderParams
import rackwright.rocc.Setting

/** What a user chooses for a Snappy compressor.
  *
  * @param encoder
  *   sizes of the LZ77 encoder.
  * @param portBytes
  *   bytes per beat of both memory ports: 16 or 32.
  * @param outstanding
  *   beats outstanding per port: a power of two, 4 to 64.
  * @param commandQueue
  *   operations that may wait: 1 to 8.
  * @param streaming
  *   see [[rackwright.compression.StreamParams]].
  */
case class SnappyCompressorParams(
    encoder: EncoderParams = EncoderParams(),
    portBytes: Int = 32,
    outstanding: Int = 64,
    commandQueue: Int = 4,
    override val streaming: Boolean = false
) extends CompressorParams {

  /** Literals moved per cycle: what fits beside the heads of elements. */
  def literalReadBytes: Int = portBytes / 2
  def chunkBytes: Int = portBytes
  def settings: Seq[Setting] = Seq(maxOffset, hashTableLog2) ++ streamingSettings
}
