package rackwright.snappy

import rackwright.compression.{CompressorParams, StreamSizes}
import rackwright.lz77.encode.EncoderParams
import rackwright.operation.Setting

/** The parameters of a Snappy compressor.
  *
  * @param encoder
  *   sizes of the LZ77 encoder.
  * @param stream
  *   ports, operations that may wait, and input in pieces.
  */
case class SnappyCompressorParams(
    encoder: EncoderParams = EncoderParams(),
    stream: StreamSizes = StreamSizes()
) extends CompressorParams {

  /** Literals moved per cycle: as many as fit beside the heads of elements. */
  def literalReadBytes: Int = portBytes / 2
  def chunkBytes: Int = portBytes
  def settings: Seq[Setting] = Seq(maxOffset, hashTableLog2) ++ streamingSettings
}
