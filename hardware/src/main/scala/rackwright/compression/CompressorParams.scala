package rackwright.compression

import rackwright.lz77.encode.EncoderParams
import rackwright.operation.Setting

/** The common parameters of compressors of all formats: sizes, ports and the settings of the LZ77 encoder. */
trait CompressorParams extends StreamParams {

  /** Sizes of the LZ77 encoder. */
  def encoder: EncoderParams

  /** Literals that the format takes from the LZ77 encoder per cycle, at most. */
  def literalReadBytes: Int

  /** Bytes of output per cycle. */
  def chunkBytes: Int

  /** The settings of an operation's dictionary, in a compressor whose encoder uses one. */
  def dictionary: Option[DictionarySettings] = None

  /** The settings that software may change at run time. */
  def settings: Seq[Setting]

  /** The encoder takes eight bytes per cycle; sixteen offered keep it busy at any alignment. */
  val streamBytes: Int = 16

  /** MAX_OFFSET and HASH_TABLE_LOG2, with the numbers of the public unit of this kind. */
  val maxOffset: Setting = Setting("max_offset", 4, 32, encoder.historyBytes, "bytes that matches reach back")
  val hashTableLog2: Setting =
    Setting("hash_table_log2", 5, 8, encoder.hashLog2, "log2 of the entries of the hash table")
}
