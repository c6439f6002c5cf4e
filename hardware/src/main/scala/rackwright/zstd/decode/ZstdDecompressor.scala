package rackwright.zstd.decode

import chisel3._

import rackwright.compression.FormatDecompressorUnit
import rackwright.operation.Operation
import rackwright.stream.StreamRange

/** The unit `zstd-decompress`: decompresses Zstandard frames from one buffer in memory to another. README.md is its
  * contract.
  *
  * @param params
  *   what to build.
  */
class ZstdDecompressor(params: ZstdDecompressorParams = ZstdDecompressorParams())
    extends FormatDecompressorUnit(
      params,
      ZstdDecompressor.supported(params),
      Some(ZstdDecompressor.dictionary(params))
    ) {
  private val boxes = Module(new FrameBoxes(params))
  connect(boxes.decompressor)
}

/** Settings of operations of the ZStd decompressor. */
object ZstdDecompressor {

  /** Whether the settings of the dictionary are in range. */
  def supported(params: ZstdDecompressorParams)(operation: Operation): Bool =
    !operation.setting(params.dictionaryLength.name).andR && !operation.setting(params.dictionaryKept.name)(1)

  /** The range of the dictionary; its length is 0 if there is none. */
  def dictionary(params: ZstdDecompressorParams)(operation: Operation): StreamRange = {
    val range = Wire(new StreamRange)
    range.address := operation.setting(params.dictionaryAddress.name)
    range.length := operation.setting(params.dictionaryLength.name)
    range
  }
}
