package rackwright.zstd.encode

import chisel3.util._

import rackwright.compression.{BlockParams, DictionarySettings, StreamSizes}
import rackwright.lz77.encode.EncoderParams
import rackwright.operation.Setting

/** The parameters of a ZStd compressor that its user chooses.
  *
  * @param encoder
  *   sizes of the LZ77 encoder.
  * @param blockKib
  *   KiB of input that a block stands for, at most: a power of two, 4 to 64.
  * @param stream
  *   ports, operations that may wait, and input in pieces.
  */
case class ZstdCompressorParams(
    encoder: EncoderParams =
      EncoderParams(hashLog2 = 15, hashWays = 2, hashBanks = 32, literalKib = 1, dictionary = true),
    blockKib: Int = 32,
    stream: StreamSizes = StreamSizes()
) extends BlockParams {
  def blockMost: Int = 64
  def chunkBytes: Int = FrameWriter.chunkBytes

  /** Width of a number of bytes of a block. */
  val countBits: Int = log2Ceil(blockBytes + 1)

  /** The most sequences of a block; a block that reaches it is closed early. */
  val sequencesMost: Int = blockBytes / 8
  val sequenceBits: Int = log2Ceil(sequencesMost + 1)

  /** Entries for output words: the largest size of an encoded block. Each sequence has at most 42 bits and stands for
    * at least 4 bytes; tables and headers have fewer than 512 bytes.
    */
  val outputWords: Int = blockBytes / 8 * 5 / 4 + 128

  /** CHECKSUM is 1 if frames get a checksum. */
  val checksum: Setting = Setting("checksum", 6, 2, 0, "1: frames have a checksum")

  /** The dictionary to search before the input, the id that frames name (0 for none), and the three initial repeated
    * offsets, 16 bits each, the first one lowest.
    */
  val dictionaryAddress: Setting = Setting("dictionary_address", 7, 64, 0, "address of the dictionary's content")
  val dictionaryLength: Setting = Setting("dictionary_length", 8, 32, 0, "its bytes; 0: none")
  val dictionaryId: Setting = Setting("dictionary_id", 10, 33, 0, "the number that frames name; 0: none")
  val dictionaryOffsets: Setting = Setting(
    "dictionary_offsets",
    11,
    49,
    BigInt("000800040001", 16),
    "the three offsets that a frame begins with, of 16 bits, the first one lowest"
  )

  override def dictionary: Option[DictionarySettings] =
    Option.when(encoder.dictionary)(DictionarySettings(dictionaryAddress, dictionaryLength))
  def settings: Seq[Setting] = Seq(maxOffset, hashTableLog2, checksum) ++
    dictionary.toSeq.flatMap(_ => Seq(dictionaryAddress, dictionaryLength, dictionaryId, dictionaryOffsets)) ++
    streamingSettings
}
