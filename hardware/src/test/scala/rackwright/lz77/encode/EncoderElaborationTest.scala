package rackwright.lz77.encode

import _root_.circt.stage.ChiselStage
import org.scalatest.funsuite.AnyFunSuite

/** Every kind of encoder elaborates; what it does is tested through the engine. */
class EncoderElaborationTest extends AnyFunSuite {
  private def elaborates(params: EncoderParams): Unit = {
    val text = ChiselStage.emitCHIRRTL(new Encoder(params, 16, 16))
    assert(text.contains("module Encoder"))
  }

  test("default") { elaborates(EncoderParams()) }

  test("smallest history and table") {
    elaborates(EncoderParams(historyKib = 2, hashLog2 = 9, hashBanks = 32, hashWays = 4, literalKib = 1))
  }

  test("several ways") { elaborates(EncoderParams(hashWays = 2)) }

  test("positions only") { elaborates(EncoderParams(entryContents = EntryContents.Position)) }

  test("without a multiplier") { elaborates(EncoderParams(hashFunction = HashFunction.XorFold)) }
}
