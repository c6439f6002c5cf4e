package rackwright.snappy

import _root_.circt.stage.ChiselStage
import org.scalatest.funsuite.AnyFunSuite

import rackwright.compression.StreamSizes
import rackwright.lz77.encode.EncoderParams

/** Which compressors may be built. */
class SnappyCompressorTest extends AnyFunSuite {
  private def refused(params: => SnappyCompressorParams): String =
    intercept[IllegalArgumentException](params).getMessage

  test("sizes out of range name the parameter and the value") {
    assert(
      refused(SnappyCompressorParams(stream = StreamSizes(portBytes = 64))).contains("port-bytes is 16 or 32, not 64")
    )
    assert(
      refused(SnappyCompressorParams(stream = StreamSizes(outstanding = 3))).contains(
        "outstanding is a power of two from 4 to 64, not 3"
      )
    )
    assert(
      refused(SnappyCompressorParams(stream = StreamSizes(commandQueue = 9))).contains("command-queue is 1 to 8, not 9")
    )
  }

  test("run-time settings keep the public numbers and start at what was built") {
    val params = SnappyCompressorParams(EncoderParams(historyKib = 4, hashLog2 = 12))
    assert(params.settings.map(setting => setting.funct -> setting.default) == Seq(4 -> 4096, 5 -> 12))
  }

  test("elaborates with both widths of the ports") {
    for (bytes <- Seq(16, 32)) {
      val text =
        ChiselStage.emitCHIRRTL(new SnappyCompressor(SnappyCompressorParams(stream = StreamSizes(portBytes = bytes))))
      assert(text.contains("module SnappyCompressor"))
    }
  }
}
