package rackwright.combined

import _root_.circt.stage.ChiselStage
import org.scalatest.funsuite.AnyFunSuite

import rackwright.compression.StreamSizes
import rackwright.lz77.encode.EncoderParams

/** Which compressors of several formats may be built, and what they call the formats. */
class CombinedCompressorTest extends AnyFunSuite {
  private val small = EncoderParams(historyKib = 64, hashLog2 = 10, literalKib = 1)

  private def refused(params: => CombinedCompressorParams): String =
    intercept[IllegalArgumentException](params).getMessage

  test("fewer than two formats, or the same twice, are refused with what there is") {
    for (wrong <- Seq(Seq(), Seq(Algorithm.Zstd), Seq(Algorithm.Zstd, Algorithm.Zstd)))
      assert(refused(CombinedCompressorParams(wrong)).contains("snappy+zstd+deflate, snappy+zstd, snappy+deflate"))
  }

  test("sizes out of range name the parameter and the value") {
    assert(
      refused(CombinedCompressorParams(stream = StreamSizes(portBytes = 64))).contains("port-bytes is 16 or 32, not 64")
    )
    assert(refused(CombinedCompressorParams(stream = StreamSizes(outstanding = 3))).contains("outstanding"))
    assert(refused(CombinedCompressorParams(stream = StreamSizes(commandQueue = 9))).contains(
      "command-queue is 1 to 8, not 9"
    ))
    assert(refused(CombinedCompressorParams(blockKib = 64)).contains("block-kib"))
  }

  test("no code stands for two formats, and all ones for none") {
    val codes = Algorithm.all.flatMap(_.codes)
    assert(codes.distinct == codes && codes.forall(_ < (1 << Algorithm.bits) - 1))
  }

  test("the boxes of DEFLATE see what its matches reach") {
    assert(CombinedCompressorParams(encoder = small).deflate.encoder.historyKib == 32)
    assert(CombinedCompressorParams(encoder = small.copy(historyKib = 8)).deflate.encoder.historyKib == 8)
  }

  test("every combination elaborates, with its formats and no other") {
    for (algorithms <- Algorithm.combinations) {
      val text = ChiselStage.emitCHIRRTL(new CombinedCompressor(CombinedCompressorParams(algorithms, small, 4)))
      assert(text.contains("module SnappyElementEmitter") == algorithms.contains(Algorithm.Snappy))
      assert(text.contains("module BlockBoxes") == algorithms.contains(Algorithm.Zstd))
      assert(text.contains("module DeflateBoxes") == algorithms.contains(Algorithm.Deflate))
    }
  }
}
