package rackwright.zstd.encode

import _root_.circt.stage.ChiselStage
import org.scalatest.funsuite.AnyFunSuite

import rackwright.compression.StreamSizes
import rackwright.lz77.encode.EncoderParams

/** Which compressors may be built, and what follows from the format. */
class ZstdCompressorTest extends AnyFunSuite {
  private def refused(params: => ZstdCompressorParams): String =
    intercept[IllegalArgumentException](params).getMessage

  test("sizes out of range name the parameter and the value") {
    assert(refused(ZstdCompressorParams(blockKib = 2)).contains("block-kib is a power of two from 4 to 64, not 2"))
    assert(refused(ZstdCompressorParams(blockKib = 24)).contains("not 24"))
    assert(
      refused(ZstdCompressorParams(stream = StreamSizes(portBytes = 64))).contains("port-bytes is 16 or 32, not 64")
    )
    assert(refused(ZstdCompressorParams(stream = StreamSizes(outstanding = 3))).contains("outstanding"))
    assert(
      refused(ZstdCompressorParams(stream = StreamSizes(commandQueue = 9))).contains("command-queue is 1 to 8, not 9")
    )
  }

  test("no sequence of the encoder makes a block too large") {
    for (blockKib <- Seq(4, 8, 16, 32, 64)) {
      val params = ZstdCompressorParams(blockKib = blockKib)
      val most = params.encoder.maxLiteralRun + (1 << EncoderParams.matchBits) - 1
      assert(params.blockLimit > 0 && params.blockLimit - 1 + most <= params.blockBytes)
    }
  }

  test("the window holds every distance and every block") {
    assert((1 << FrameWriter.windowLog) >= (64 << 10) + 65535)
  }

  test("settings keep the numbers of the Snappy compressor; those of dictionaries are there with them alone") {
    def numbers(dictionary: Boolean): Seq[(Int, BigInt)] =
      ZstdCompressorParams(EncoderParams(historyKib = 4, hashLog2 = 12, literalKib = 1, dictionary = dictionary))
        .settings.map(setting => setting.funct -> setting.default)
    val others = Seq[(Int, BigInt)](4 -> 4096, 5 -> 12, 6 -> 0)
    assert(numbers(dictionary = false) == others)
    assert(numbers(dictionary = true) == others ++ Seq(7 -> 0, 8 -> 0, 10 -> 0, 11 -> (1L + (4L << 16) + (8L << 32))))
  }

  test("elaborates with both widths of the ports") {
    for (bytes <- Seq(16, 32)) {
      val text = ChiselStage.emitCHIRRTL(new ZstdCompressor(ZstdCompressorParams(
        blockKib = 4,
        stream = StreamSizes(portBytes = bytes)
      )))
      assert(text.contains("module ZstdCompressor"))
    }
  }
}
