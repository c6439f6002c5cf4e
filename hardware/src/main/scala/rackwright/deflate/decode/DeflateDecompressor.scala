package rackwright.deflate.decode

import chisel3._

import rackwright.compression.FormatDecompressorUnit
import rackwright.deflate.Wrapper
import rackwright.operation.Operation

/** The unit `deflate-decompress`: from DEFLATE, zlib or gzip in memory to a buffer in memory. README.md is the
  * contract.
  *
  * @param params
  *   what to build.
  */
class DeflateDecompressor(params: DeflateDecompressorParams = DeflateDecompressorParams())
    extends FormatDecompressorUnit(params, DeflateDecompressor.supported(params)) {
  private val boxes = Module(new StreamBoxes(params))
  connect(boxes.decompressor)
}

/** What operations ask of a decompressor of DEFLATE. */
object DeflateDecompressor {

  /** Whether the wrapper is one. */
  def supported(params: DeflateDecompressorParams)(operation: Operation): Bool =
    operation.setting(params.format.name) <= Wrapper.gzip.U
}
