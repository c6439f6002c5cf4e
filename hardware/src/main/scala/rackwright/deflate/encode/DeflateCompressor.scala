package rackwright.deflate.encode

import chisel3._

import rackwright.compression.{CompressorCore, CompressorUnit}
import rackwright.deflate.Wrapper

/** The unit `deflate-compress`: compresses a buffer in memory to DEFLATE, zlib or gzip data in memory. README.md is its
  * contract.
  *
  * @param params
  *   what to build.
  */
class DeflateCompressor(params: DeflateCompressorParams = DeflateCompressorParams()) extends CompressorUnit(params) {
  private val core = Module(
    new CompressorCore(params, opcode, asked => asked.setting(params.format.name) <= Wrapper.gzip.U)
  )
  private val boxes = withReset(reset.asBool || core.clear) { Module(new DeflateBoxes(params)) }

  boxes.compressor <> core.format
  connect(core)
}
