package rackwright.deflate.decode

import _root_.circt.stage.ChiselStage
import org.scalatest.funsuite.AnyFunSuite

import rackwright.compression.StreamSizes
import rackwright.deflate.TokenFormat

/** Which decompressors may be built, and what they hold of the fixed codes. */
class DeflateDecompressorTest extends AnyFunSuite {
  private def refused(params: => DeflateDecompressorParams): String =
    intercept[IllegalArgumentException](params).getMessage

  test("sizes out of range name the parameter and the value") {
    assert(refused(DeflateDecompressorParams(historyKib = 64)).contains(
      "history-kib is a power of two from 2 to 32, not 64"
    ))
    assert(refused(DeflateDecompressorParams(speculation = 12)).contains(
      "speculation is a power of two from 4 to port-bytes, not 12"
    ))
    assert(
      refused(DeflateDecompressorParams(lookahead = 8)).contains("lookahead is a power of two from 16 to 256, not 8")
    )
    assert(
      refused(DeflateDecompressorParams(stream = StreamSizes(portBytes = 8))).contains("port-bytes is 16 or 32, not 8")
    )
    assert(refused(DeflateDecompressorParams(stream = StreamSizes(commandQueue = 0))).contains(
      "command-queue is 1 to 8, not 0"
    ))
  }

  test("elaborates with each width of the ports") {
    for (bytes <- Seq(16, 32)) {
      val params = DeflateDecompressorParams(stream = StreamSizes(portBytes = bytes), historyKib = 2, speculation = 4)
      assert(ChiselStage.emitCHIRRTL(new DeflateDecompressor(params)).contains("module DeflateDecompressor"))
    }
  }

  test("the fixed code of literals is that of RFC 1951, section 3.2.6") {
    val (limits, places) = TokenTables.canonical(TokenFormat.fixedLiterals)
    val order = TokenTables.order(TokenFormat.fixedLiterals)
    def symbol(code: Int, length: Int): Int = order((code + places(length - 1)) % 512)
    assert(limits.last == 1 << TokenFormat.mostBits)
    assert(Seq(symbol(0x30, 8), symbol(0x190, 9), symbol(0, 7), symbol(0xc0, 8)) == Seq(0, 144, 256, 280))
  }
}
