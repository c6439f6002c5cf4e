package rackwright.snappy

import chisel3.util._

import rackwright.lz77.EncoderParams
import rackwright.memory.MemoryPortParams
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
  */
case class SnappyCompressorParams(
    encoder: EncoderParams = EncoderParams(),
    portBytes: Int = 32,
    outstanding: Int = 64,
    commandQueue: Int = 4
) {
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

  /** Literals moved per cycle: what fits beside the heads of elements. */
  val literalReadBytes: Int = portBytes / 2

  /** MAX_OFFSET and HASH_TABLE_LOG2, with the numbers of the public unit of this kind. */
  val maxOffset: Setting = Setting("max_offset", 4, 32, encoder.historyBytes)
  val hashTableLog2: Setting = Setting("hash_table_log2", 5, 8, encoder.hashLog2)
  val settings: Seq[Setting] = Seq(maxOffset, hashTableLog2)
}
