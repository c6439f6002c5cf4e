package rackwright.compression

import chisel3.util._

import rackwright.lz77.EncoderParams
import rackwright.memory.MemoryPortParams
import rackwright.rocc.Setting

/** What the compressors of all formats have in common: sizes, ports and the settings of the LZ77 encoder. */
trait CompressorParams {

  /** Sizes of the LZ77 encoder. */
  def encoder: EncoderParams

  /** Bytes per beat of both memory ports: 16 or 32. */
  def portBytes: Int

  /** Beats outstanding per port: a power of two, 4 to 64. */
  def outstanding: Int

  /** Operations that may wait: 1 to 8. */
  def commandQueue: Int

  /** Literals that the format takes from the LZ77 encoder per cycle, at most. */
  def literalReadBytes: Int

  /** Bytes of output per cycle. */
  def chunkBytes: Int

  /** Where the dictionary of an operation is, in a compressor whose encoder takes one. */
  def dictionary: Option[DictionarySettings] = None

  /** What software may set at run time. */
  def settings: Seq[Setting]

  require(Set(16, 32).contains(portBytes), s"port-bytes is 16 or 32, not $portBytes")
  require(
    isPow2(outstanding) && outstanding >= 4 && outstanding <= 64,
    s"outstanding is a power of two from 4 to 64, not $outstanding"
  )
  require(commandQueue >= 1 && commandQueue <= 8, s"command-queue is 1 to 8, not $commandQueue")

  /** Each of the ports inside the unit. */
  val port: MemoryPortParams = MemoryPortParams(portBytes, log2Ceil(outstanding))

  /** The encoder takes eight bytes per cycle; sixteen offered keep it busy at any alignment. */
  val streamBytes: Int = 16

  /** MAX_OFFSET and HASH_TABLE_LOG2, with the numbers of the public unit of this kind. */
  val maxOffset: Setting = Setting("max_offset", 4, 32, encoder.historyBytes)
  val hashTableLog2: Setting = Setting("hash_table_log2", 5, 8, encoder.hashLog2)
}
