package rackwright.lz77.encode

import org.scalatest.funsuite.AnyFunSuite

/** Which encoders may be built, and what their errors say. */
class EncoderParamsTest extends AnyFunSuite {
  private def refused(params: => EncoderParams): String = intercept[IllegalArgumentException](params).getMessage

  test("the default is the largest design of the public unit") {
    val params = EncoderParams()
    assert(params.historyBytes == 65536)
    assert(params.rows * params.hashBanks * params.hashWays == 16384)
    assert(params.keyed)
  }

  test("a distance fits into the two bytes of a copy and into what the history keeps") {
    for (kib <- EncoderParams.historyRange) {
      val params = EncoderParams(historyKib = kib)
      assert(params.maxDistance < 65536)
      assert(params.maxDistance <= params.historyBytes - params.historyLead)
    }
  }

  test("a run of literals fits into the longest head that is emitted") {
    assert(EncoderParams(literalKib = 64).maxLiteralRun <= 65536)
  }

  test("ways and banks divide the entries") {
    for (ways <- Seq(1, 2, 4); banks <- Seq(8, 16, 32)) {
      val params = EncoderParams(hashLog2 = 9, hashWays = ways, hashBanks = banks)
      assert(params.rows * ways * banks == 512)
    }
  }

  test("sizes out of range name the parameter and the value") {
    assert(refused(EncoderParams(historyKib = 3)).contains("history-kib is a power of two from 2 to 64, not 3"))
    assert(refused(EncoderParams(hashLog2 = 16)).contains("hash-log2 is 9 to 15, not 16"))
    assert(refused(EncoderParams(hashWays = 3)).contains("hash-ways is 1, 2 or 4, not 3"))
    assert(refused(EncoderParams(hashBanks = 64)).contains("hash-banks"))
    assert(refused(EncoderParams(literalKib = 3)).contains("literal-kib"))
  }

  test("without keys there is one way") {
    assert(refused(EncoderParams(hashWays = 2, entryContents = EntryContents.Position)).contains("hash-ways is 1"))
  }

  test("names are those of the command line") {
    assert(HashFunction("xor-fold") == HashFunction.XorFold)
    assert(EntryContents("position") == EntryContents.Position)
    assert(intercept[IllegalArgumentException](HashFunction("crc")).getMessage.contains("multiplicative, xor-fold"))
    assert(intercept[IllegalArgumentException](EntryContents("key")).getMessage.contains("position, position+key"))
  }
}
