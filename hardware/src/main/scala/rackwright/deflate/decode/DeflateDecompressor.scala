package rackwright.deflate.decode

import chisel3._

import rackwright.compression.FormatDecompressorUnit
import rackwright.deflate.Wrapper
import rackwright.operation.Operation

/** The unit `deflate-decompress`: decompresses DEFLATE, zlib or gzip data from one buffer in memory to another.
  * README.md is its contract.
  *
  * @param params
  *   what to build.
  */
class DeflateDecompressor(params: DeflateDecompressorParams = DeflateDecompressorParams())
    extends FormatDecompressorUnit(params, DeflateDecompressor.supported(params)) {
  private val boxes = Module(new StreamBoxes(params))
  connect(boxes.decompressor)
}

/** Settings of operations of the DEFLATE decompressor. */
object DeflateDecompressor {

  /** Whether the container format is a known one. */
  def supported(params: DeflateDecompressorParams)(operation: Operation): Bool =
    operation.setting(params.format.name) <= Wrapper.gzip.U
}
