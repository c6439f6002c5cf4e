package rackwright.zstd.decode

import chisel3._

import rackwright.compression.FormatDecompressorUnit
import rackwright.operation.Operation
import rackwright.stream.StreamRange

/** The unit `zstd-decompress`: from Zstandard frames in memory to a buffer in memory. README.md is the contract.
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

/** What operations ask of a decompressor of ZStd. */
object ZstdDecompressor {

  /** Whether the settings of the dictionary are in range. */
  def supported(params: ZstdDecompressorParams)(operation: Operation): Bool =
    !operation.setting(params.dictionaryLength.name).andR && !operation.setting(params.dictionaryKept.name)(1)

  /** Where the dictionary is: no bytes for none. */
  def dictionary(params: ZstdDecompressorParams)(operation: Operation): StreamRange = {
    val range = Wire(new StreamRange)
    range.address := operation.setting(params.dictionaryAddress.name)
    range.length := operation.setting(params.dictionaryLength.name)
    range
  }
}
