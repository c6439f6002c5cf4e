package rackwright.snappy

import _root_.circt.stage.ChiselStage
import org.scalatest.funsuite.AnyFunSuite

import rackwright.compression.StreamSizes

/** Which decompressors may be built. */
class SnappyDecompressorTest extends AnyFunSuite {
  private def refused(params: => SnappyDecompressorParams): String =
    intercept[IllegalArgumentException](params).getMessage

  test("sizes out of range name the parameter and the value") {
    assert(refused(SnappyDecompressorParams(historyKib = 128)).contains(
      "history-kib is a power of two from 2 to 64, not 128"
    ))
    assert(refused(SnappyDecompressorParams(elementsPerCycle = 4)).contains("elements-per-cycle is 1 or 2, not 4"))
    assert(
      refused(SnappyDecompressorParams(lookahead = 8)).contains("lookahead is a power of two from 16 to 256, not 8")
    )
    assert(
      refused(SnappyDecompressorParams(stream = StreamSizes(portBytes = 8))).contains("port-bytes is 16 or 32, not 8")
    )
    assert(refused(SnappyDecompressorParams(stream = StreamSizes(outstanding = 128))).contains(
      "outstanding is a power of two from 4 to 64, not 128"
    ))
    assert(refused(SnappyDecompressorParams(stream = StreamSizes(streaming = true))).contains("no input in pieces"))
    assert(refused(SnappyDecompressorParams(stream = StreamSizes(commandQueue = 0))).contains(
      "command-queue is 1 to 8, not 0"
    ))
  }

  test("a run-time history too large for its setting is still seen as out of range") {
    for (kib <- Seq(2, 64)) {
      val setting = SnappyDecompressorParams(historyKib = kib).onChipHistory
      assert(setting.funct == 4 && setting.default == kib * 1024)
      assert((BigInt(1) << setting.width) - 1 > kib * 1024)
    }
  }

  test("elaborates with each width of the ports and number of lanes") {
    for (bytes <- Seq(16, 32); lanes <- Seq(1, 2)) {
      val params =
        SnappyDecompressorParams(stream = StreamSizes(portBytes = bytes), elementsPerCycle = lanes, historyKib = 2)
      assert(ChiselStage.emitCHIRRTL(new SnappyDecompressor(params)).contains("module SnappyDecompressor"))
    }
  }
}
