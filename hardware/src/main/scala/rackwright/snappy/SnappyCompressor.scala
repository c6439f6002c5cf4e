package rackwright.snappy

import chisel3._

import rackwright.compression.{CompressorCore, CompressorUnit}

/** The unit `snappy-compress`: from a buffer in memory to a Snappy stream in memory. README.md is the contract.
  *
  * @param params
  *   what to build.
  */
class SnappyCompressor(params: SnappyCompressorParams = SnappyCompressorParams()) extends CompressorUnit(params) {
  private val core = Module(new CompressorCore(params, opcode))
  private val emitter = withReset(reset.asBool || core.clear) { Module(new SnappyElementEmitter(params)) }

  emitter.compressor <> core.format
  connect(core)
}
