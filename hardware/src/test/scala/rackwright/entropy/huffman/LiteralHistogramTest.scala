package rackwright.entropy.huffman

import rackwright.BlockTest

/** Counts of literals against counting. */
class LiteralHistogramTest extends BlockTest {
  private val lanes = CountedLiterals.lanes

  private def give(dut: LiteralHistogram, literals: Seq[Int], size: Int): Unit = {
    for (word <- literals.grouped(size)) {
      dut.counted.valid.poke(true)
      dut.counted.bits.count.poke(word.size)
      dut.counted.bits.data.poke(word.reverse.foldLeft(BigInt(0))((data, literal) => data << 8 | literal))
      dut.clock.step()
    }
    dut.counted.valid.poke(false)
    dut.clock.step(2)
  }

  private def counts(dut: LiteralHistogram): Seq[(Int, Int)] = {
    dut.gather.poke(true)
    dut.clock.step()
    dut.gather.poke(false)
    var found = Seq.empty[(Int, Int)]
    await(dut.clock, !holds(dut.busy), 300) {
      if (holds(dut.count.valid)) found :+= number(dut.count.bits.symbol) -> number(dut.count.bits.count)
    }
    found
  }

  test("the literals of one block after the other are counted, whatever was counted before") {
    val random = seeded(6)
    block(new LiteralHistogram(16)) { dut =>
      dut.gather.poke(false)
      for (symbols <- Seq(3, 256, 1, 40, 4, 0, 256)) {
        val literals = if (symbols == 0) Seq.empty else Seq.fill(200)(255 - random.nextInt(symbols))
        give(dut, literals, 1 + random.nextInt(lanes))
        assert(counts(dut) == literals.groupBy(identity).map { case (symbol, all) => symbol -> all.size }.toSeq.sorted)
      }
    }
  }
}
