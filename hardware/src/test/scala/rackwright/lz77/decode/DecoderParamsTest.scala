package rackwright.lz77.decode

import org.scalatest.funsuite.AnyFunSuite

/** Which decoders may be built, and the widths that follow from their sizes. */
class DecoderParamsTest extends AnyFunSuite {
  private def refused(params: => DecoderParams): String = intercept[IllegalArgumentException](params).getMessage

  test("sizes out of range name the size and the value") {
    assert(refused(DecoderParams(historyBytes = 1024)).contains("from 2048 to 65536 bytes, not 1024"))
    assert(refused(DecoderParams(historyBytes = 3000)).contains("not 3000"))
    assert(refused(DecoderParams(lanes = 3)).contains("1 or 2 lanes, not 3"))
    assert(refused(DecoderParams(lookahead = 24)).contains("lookahead is a power of two of at least 8, not 24"))
    assert(refused(DecoderParams(literalBytes = 64)).contains("literalBytes is a power of two of at least 512, not 64"))
  }

  test("an offset as large as the history fits its field") {
    for (kib <- Seq(2, 4, 8, 16, 32, 64)) {
      val params = DecoderParams(historyBytes = kib * 1024)
      assert(BigInt(params.historyBytes).bitLength <= params.offsetBits)
    }
  }
}
