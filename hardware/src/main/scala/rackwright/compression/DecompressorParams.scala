package rackwright.compression

import chisel3._
import chisel3.util._

import rackwright.lz77.decode.DecoderParams
import rackwright.operation.{Operation, Setting}

/** The common parameters of decompressors of all formats: sizes, ports and the settings of the LZ77 decoder. */
trait DecompressorParams extends StreamParams {

  /** KiB of output stored on chip: a power of two, 2 to `historyMost`. */
  def historyKib: Int

  /** Maximum of it that the format can use. */
  def historyMost: Int = 64

  /** Segments that may wait between decoding and execution: a power of two, 16 to 256. */
  def lookahead: Int

  /** The LZ77 decoder. */
  def decoder: DecoderParams

  /** The settings that software may change at run time. */
  def settings: Seq[Setting]

  /** Boxes of the format that read the input, in addition to the one that makes a stream of it. */
  def readers: Int = 0

  require(
    isPow2(historyKib) && historyKib >= 2 && historyKib <= historyMost,
    s"history-kib is a power of two from 2 to $historyMost, not $historyKib"
  )
  require(
    isPow2(lookahead) && lookahead >= 16 && lookahead <= 256,
    s"lookahead is a power of two from 16 to 256, not $lookahead"
  )

  /** ON_CHIP_HISTORY, with the number of the public unit of this kind. One bit more than needed, so that too much is
    * seen.
    */
  lazy val onChipHistory: Setting =
    Setting("on_chip_history", 4, decoder.offsetBits + 1, decoder.historyBytes, "bytes of history that are used")

  /** Whether the unit has the history that an operation requests. */
  def supportsHistory(operation: Operation): Bool = {
    val history = operation.setting(onChipHistory.name)
    history >= DecoderParams.leastHistory.U && history <= decoder.historyBytes.U
  }
}
