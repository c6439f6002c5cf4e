package rackwright.snappy

import chisel3.util._

import rackwright.lz77.DecoderParams
import rackwright.memory.MemoryPortParams
import rackwright.rocc.Setting

/** What a user chooses for a Snappy decompressor.
  *
  * @param historyKib
  *   KiB of output kept on chip: a power of two, 2 to 64.
  * @param elementsPerCycle
  *   elements decoded and executed per cycle: 1 or 2.
  * @param lookahead
  *   elements that may wait between decoding and execution: a power of two, 16 to 256.
  * @param portBytes
  *   bytes per beat of the memory ports: 16 or 32.
  * @param outstanding
  *   beats outstanding per port: a power of two, 4 to 64.
  * @param commandQueue
  *   operations that may wait: 1 to 8.
  */
case class SnappyDecompressorParams(
    historyKib: Int = 64,
    elementsPerCycle: Int = 2,
    lookahead: Int = 256,
    portBytes: Int = 32,
    outstanding: Int = 64,
    commandQueue: Int = 4
) {
  require(
    isPow2(historyKib) && historyKib >= 2 && historyKib <= 64,
    s"history-kib is a power of two from 2 to 64, not $historyKib"
  )
  require(Set(1, 2).contains(elementsPerCycle), s"elements-per-cycle is 1 or 2, not $elementsPerCycle")
  require(
    isPow2(lookahead) && lookahead >= 16 && lookahead <= 256,
    s"lookahead is a power of two from 16 to 256, not $lookahead"
  )
  require(Set(16, 32).contains(portBytes), s"port-bytes is 16 or 32, not $portBytes")
  require(
    isPow2(outstanding) && outstanding >= 4 && outstanding <= 64,
    s"outstanding is a power of two from 4 to 64, not $outstanding"
  )
  require(commandQueue >= 1 && commandQueue <= 8, s"command-queue is 1 to 8, not $commandQueue")

  /** Each of the ports inside the unit. */
  val port: MemoryPortParams = MemoryPortParams(portBytes, log2Ceil(outstanding))

  /** The LZ77 decoder. Its buffer holds 4 bytes of literals per element that waits, which is what text needs. */
  val decoder: DecoderParams = DecoderParams(
    port,
    historyBytes = historyKib * 1024,
    lanes = elementsPerCycle,
    lookahead = lookahead,
    literalBytes = 4 * lookahead.max(128)
  )

  /** ON_CHIP_HISTORY, with the number of the public unit of this kind. One bit more than needed, so that too much is
    * seen.
    */
  val onChipHistory: Setting = Setting("on_chip_history", 4, decoder.offsetBits + 1, decoder.historyBytes)
  val settings: Seq[Setting] = Seq(onChipHistory)
}
