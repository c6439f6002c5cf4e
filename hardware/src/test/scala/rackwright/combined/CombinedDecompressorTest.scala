package rackwright.combined

import _root_.circt.stage.ChiselStage
import org.scalatest.funsuite.AnyFunSuite

import rackwright.compression.StreamSizes

/** Which decompressors of several formats may be built. */
class CombinedDecompressorTest extends AnyFunSuite {
  private def refused(params: => CombinedDecompressorParams): String =
    intercept[IllegalArgumentException](params).getMessage

  test("fewer than two formats, or the same twice, are refused with what there is") {
    for (wrong <- Seq(Seq(), Seq(Algorithm.Zstd), Seq(Algorithm.Zstd, Algorithm.Zstd)))
      assert(refused(CombinedDecompressorParams(wrong)).contains("snappy+zstd+deflate, snappy+zstd, snappy+deflate"))
  }

  test("sizes out of range name the parameter and the value") {
    assert(refused(CombinedDecompressorParams(stream = StreamSizes(portBytes = 64))).contains(
      "port-bytes is 16 or 32, not 64"
    ))
    assert(refused(CombinedDecompressorParams(stream = StreamSizes(outstanding = 3))).contains("outstanding"))
    assert(refused(CombinedDecompressorParams(historyKib = 128)).contains(
      "history-kib is a power of two from 2 to 64, not 128"
    ))
    assert(refused(CombinedDecompressorParams(speculation = 2)).contains("speculation"))
    assert(refused(CombinedDecompressorParams(speculation = 32, stream = StreamSizes(portBytes = 16))).contains(
      "speculation"
    ))
  }

  test("the boxes of DEFLATE see what its copies reach") {
    assert(CombinedDecompressorParams().deflate.historyKib == 32)
    assert(CombinedDecompressorParams(historyKib = 8).deflate.historyKib == 8)
  }

  test("every combination elaborates, with its formats and no other") {
    for (algorithms <- Algorithm.combinations; bytes <- Seq(16, 32)) {
      val params = CombinedDecompressorParams(algorithms, 2, 8, 16, StreamSizes(bytes))
      val text = ChiselStage.emitCHIRRTL(new CombinedDecompressor(params))
      assert(text.contains("module ElementBoxes") == algorithms.contains(Algorithm.Snappy))
      assert(text.contains("module FrameBoxes") == algorithms.contains(Algorithm.Zstd))
      assert(text.contains("module StreamBoxes") == algorithms.contains(Algorithm.Deflate))
    }
  }
}
