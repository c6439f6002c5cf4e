package rackwright.zstd.encode

import chisel3._

import rackwright.compression.{CompressorCore, CompressorUnit}
import rackwright.operation.Operation

/** The unit `zstd-compress`: compresses a buffer in memory to a Zstandard frame in memory. README.md is its contract.
  *
  * @param params
  *   what to build.
  */
class ZstdCompressor(params: ZstdCompressorParams = ZstdCompressorParams()) extends CompressorUnit(params) {
  private val core = Module(new CompressorCore(params, opcode, ZstdCompressor.supported(params)))
  private val boxes = withReset(reset.asBool || core.clear) { Module(new BlockBoxes(params)) }

  boxes.compressor <> core.format
  connect(core)
}

/** Settings of operations of a [[ZstdCompressor]]. */
object ZstdCompressor {

  /** Whether the settings are in range. A setting that is too wide has all bits set. */
  def supported(params: ZstdCompressorParams)(operation: Operation): Bool = {
    val dictionary = Option.when(params.encoder.dictionary)(
      !operation.setting(params.dictionaryLength.name).andR && !operation.setting(params.dictionaryId.name)(32) &&
        !operation.setting(params.dictionaryOffsets.name)(48)
    )
    !operation.setting(params.checksum.name)(1) && dictionary.getOrElse(true.B)
  }
}
