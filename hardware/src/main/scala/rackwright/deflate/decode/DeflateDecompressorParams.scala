package rackwright.deflate.decode

import chisel3.util._

import rackwright.compression.{DecompressorParams, StreamSizes}
import rackwright.deflate.Wrapper
import rackwright.lz77.decode.DecoderParams
import rackwright.operation.Setting

/** The parameters of a DEFLATE decompressor that its user chooses.
  *
  * @param historyKib
  *   KiB of output kept on chip: a power of two, 2 to 32, which is the farthest that the format reaches.
  * @param speculation
  *   bits decoded per cycle, at each of which a code may begin: a power of two, 4 to 32, at most `portBytes`.
  * @param lookahead
  *   segments that may wait between decoding and execution: a power of two, 16 to 256.
  * @param stream
  *   ports, operations that may wait, and input in pieces.
  */
case class DeflateDecompressorParams(
    historyKib: Int = 32,
    speculation: Int = 16,
    lookahead: Int = 256,
    stream: StreamSizes = StreamSizes()
) extends DecompressorParams {
  override def historyMost: Int = 32

  require(
    isPow2(speculation) && speculation >= 4 && speculation <= portBytes,
    s"speculation is a power of two from 4 to port-bytes, not $speculation"
  )

  /** Parameters of the LZ77 decoder; literals have a separate interface, as those of stored blocks arrive in lines. */
  val decoder: DecoderParams = DecoderParams(
    port,
    historyBytes = historyKib * 1024,
    lanes = 2,
    lookahead = lookahead,
    literalBytes = 2048,
    literalReserve = DeflateDecompressorParams.literalReserve,
    literalsAhead = true
  )

  /** FORMAT, one of [[Wrapper]]. */
  val format: Setting = Setting("format", 5, Wrapper.bits, Wrapper.raw, Wrapper.meaning)
  val settings: Seq[Setting] = Seq(onChipHistory, format) ++ streamingSettings
}

/** Constants of the structure. */
object DeflateDecompressorParams {

  /** The most bits decoded per cycle. */
  val mostSpeculation: Int = 32

  /** Lines of literals that can be in flight when the buffer runs full, plus two that are being filled. */
  val literalReserve: Int = 12

  /** Capacity of the queue of sequences, and the sequences that can be in flight when it runs full. */
  val waitingSequences: Int = 16
  val sequencesUnderWay: Int = 8
}
