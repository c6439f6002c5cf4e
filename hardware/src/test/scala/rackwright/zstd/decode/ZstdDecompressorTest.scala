package rackwright.zstd.decode

import _root_.circt.stage.ChiselStage
import org.scalatest.funsuite.AnyFunSuite

import rackwright.compression.StreamSizes

/** Which decompressors may be built. */
class ZstdDecompressorTest extends AnyFunSuite {
  private def refused(params: => ZstdDecompressorParams): String =
    intercept[IllegalArgumentException](params).getMessage

  test("sizes out of range name the parameter and the value") {
    assert(refused(ZstdDecompressorParams(historyKib = 128)).contains(
      "history-kib is a power of two from 2 to 64, not 128"
    ))
    assert(refused(ZstdDecompressorParams(speculation = 12)).contains(
      "speculation is a power of two from 1 to port-bytes, not 12"
    ))
    assert(
      refused(ZstdDecompressorParams(lookahead = 8)).contains("lookahead is a power of two from 16 to 256, not 8")
    )
    assert(
      refused(ZstdDecompressorParams(stream = StreamSizes(portBytes = 8))).contains("port-bytes is 16 or 32, not 8")
    )
    assert(
      refused(ZstdDecompressorParams(stream = StreamSizes(commandQueue = 0))).contains("command-queue is 1 to 8, not 0")
    )
  }

  test("elaborates with each width of the ports") {
    for (bytes <- Seq(16, 32)) {
      val params = ZstdDecompressorParams(stream = StreamSizes(portBytes = bytes), historyKib = 2, speculation = 8)
      assert(ChiselStage.emitCHIRRTL(new ZstdDecompressor(params)).contains("module ZstdDecompressor"))
    }
  }
}
