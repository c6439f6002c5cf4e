package rackwright.deflate.encode

import _root_.circt.stage.ChiselStage
import org.scalatest.funsuite.AnyFunSuite

import rackwright.compression.StreamSizes
import rackwright.lz77.encode.EncoderParams

/** Which compressors may be built, and what follows from the format. */
class DeflateCompressorTest extends AnyFunSuite {
  private def refused(params: => DeflateCompressorParams): String =
    intercept[IllegalArgumentException](params).getMessage
  private val encoder = DeflateCompressorParams().encoder

  test("sizes out of range name the parameter and the value") {
    assert(refused(DeflateCompressorParams(blockKib = 2)).contains("block-kib is a power of two from 4 to 32, not 2"))
    assert(refused(DeflateCompressorParams(blockKib = 64)).contains("not 64"))
    assert(refused(DeflateCompressorParams(encoder.copy(historyKib = 64))).contains("history-kib"))
    assert(
      refused(DeflateCompressorParams(stream = StreamSizes(portBytes = 64))).contains("port-bytes is 16 or 32, not 64")
    )
    assert(refused(DeflateCompressorParams(stream = StreamSizes(outstanding = 3))).contains("outstanding"))
    assert(refused(DeflateCompressorParams(stream = StreamSizes(commandQueue = 9))).contains(
      "command-queue is 1 to 8, not 9"
    ))
  }

  test("no sequence of the encoder makes a block too large, and all blocks under way are kept") {
    for (blockKib <- Seq(4, 8, 16, 32)) {
      val params = DeflateCompressorParams(blockKib = blockKib)
      val most = params.encoder.maxLiteralRun + (1 << EncoderParams.matchBits) - 1
      assert(params.blockLimit > 0 && params.blockLimit - 1 + most <= params.blockBytes)
      assert(params.blockBytes < (1 << 16) && params.slots * params.blockBytes < params.keptBytes - 2 * most)
    }
  }

  test("a copy and four literals fit in a string, and a string in a chunk") {
    assert(DeflateCompressorParams.stringBits == 90)
    assert(StreamAssembler.gzipHeadBits <= DeflateCompressorParams.stringBits)
    assert(DeflateCompressorParams.stringBits < 8 * DeflateCompressorParams.chunkBytes)
  }

  test("settings keep the numbers of the Snappy compressor") {
    val params = DeflateCompressorParams(encoder.copy(historyKib = 4, hashLog2 = 12))
    assert(params.settings.map(setting => setting.funct -> setting.default) == Seq(4 -> 4096, 5 -> 12, 6 -> 0))
  }

  test("elaborates with both widths of the ports") {
    for (bytes <- Seq(16, 32)) {
      val text =
        ChiselStage.emitCHIRRTL(new DeflateCompressor(DeflateCompressorParams(
          blockKib = 4,
          stream = StreamSizes(portBytes = bytes)
        )))
      assert(text.contains("module DeflateCompressor"))
    }
  }
}
