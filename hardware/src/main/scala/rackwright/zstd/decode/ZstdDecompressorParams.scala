package rackwright.zstd.decode

import chisel3.util._

import rackwright.compression.{DecompressorParams, StreamSizes}
import rackwright.lz77.decode.DecoderParams
import rackwright.operation.Setting

/** The parameters of a ZStd decompressor that its user chooses.
  *
  * @param historyKib
  *   KiB of output kept on chip: a power of two, 2 to 64.
  * @param speculation
  *   bits of a Huffman stream decoded per cycle, at each of which a code may begin: a power of two, at most
  *   `portBytes`.
  * @param lookahead
  *   parts of sequences that may wait between decoding and execution: a power of two, 16 to 256.
  * @param stream
  *   ports, operations that may wait, and input in pieces.
  */
case class ZstdDecompressorParams(
    historyKib: Int = 64,
    speculation: Int = 16,
    lookahead: Int = 256,
    stream: StreamSizes = StreamSizes()
) extends DecompressorParams {
  require(
    isPow2(speculation) && speculation >= 1 && speculation <= portBytes,
    s"speculation is a power of two from 1 to port-bytes, not $speculation"
  )

  /** Parameters of the LZ77 decoder; the Huffman decoder may deliver literals at full rate until the buffer is full. */
  val decoder: DecoderParams = DecoderParams(
    port,
    historyBytes = historyKib * 1024,
    lanes = 2,
    lookahead = lookahead,
    literalBytes = 4096,
    literalReserve = ZstdDecompressorParams.literalReserve,
    literalsAhead = true,
    dictionary = true
  )

  /** The settings DICTIONARY_ADDRESS and DICTIONARY_LENGTH. DICTIONARY_KEPT is 1 if the bytes of the dictionary are
    * unchanged since the last operation that read it.
    */
  val dictionaryAddress: Setting = Setting("dictionary_address", 7, 64, 0, "address of the dictionary")
  val dictionaryLength: Setting = Setting("dictionary_length", 8, DictionaryReader.lengthBits, 0, "its bytes; 0: none")
  val dictionaryKept: Setting = Setting("dictionary_kept", 9, 2, 0, "1: it has not changed since it was given")
  val dictionarySettings: Seq[Setting] = Seq(dictionaryAddress, dictionaryLength, dictionaryKept)
  val settings: Seq[Setting] = (onChipHistory +: dictionarySettings) ++ streamingSettings

  /** The two streams of a block that are read backwards. */
  override def readers: Int = 2
}

/** Constants of the format and of the structure. */
object ZstdDecompressorParams {

  /** Lines of literals that can be in flight in the Huffman decoder when the buffer runs full, plus two. */
  val literalReserve: Int = 40

  /** The most bytes that a compressed block can expand to (RFC 8878, section 3.1.1.2.4). */
  val blockBytes: Int = 128 * 1024
}
