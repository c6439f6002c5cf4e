package rackwright.compression

import rackwright.lz77.encode.EncoderParams
import rackwright.operation.Setting

/** What the compressors of all formats have in common: sizes, ports and the settings of the LZ77 encoder. */
trait CompressorParams extends StreamParams {

  /** Sizes of the LZ77 encoder. */
  def encoder: EncoderParams

  /** Literals that the format takes from the LZ77 encoder per cycle, at most. */
  def literalReadBytes: Int

  /** Bytes of output per cycle. */
  def chunkBytes: Int

  /** Where the dictionary of an operation is, in a compressor whose encoder takes one. */
  def dictionary: Option[DictionarySettings] = None

  /** What software may set at run time. */
  def settings: Seq[Setting]

  /** The encoder takes eight bytes per cycle; sixteen offered keep it busy at any alignment. */
  val streamBytes: Int = 16

  /** MAX_OFFSET and HASH_TABLE_LOG2, with the numbers of the public unit of this kind. */
  val maxOffset: Setting = Setting("max_offset", 4, 32, encoder.historyBytes, "bytes that matches reach back")
  val hashTableLog2: Setting =
    Setting("hash_table_log2", 5, 8, encoder.hashLog2, "log2 of the entries of the hash table")
}
