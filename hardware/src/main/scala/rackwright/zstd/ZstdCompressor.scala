package rackwright.zstd

import chisel3._

import rackwright.compression.{CompressorCore, CompressorUnit}

/** The unit `zstd-compress`: from a buffer in memory to a Zstandard frame in memory. README.md is the contract.
  *
  * @param params
  *   what to build.
  */
class ZstdCompressor(params: ZstdCompressorParams = ZstdCompressorParams()) extends CompressorUnit(params) {
  private val core = Module(
    new CompressorCore(params, opcode, asked => !asked.setting(params.checksum.name)(1))
  )
  private val boxes = withReset(reset.asBool || core.clear) { Module(new BlockBoxes(params)) }

  boxes.compressor <> core.format
  connect(core)
}
