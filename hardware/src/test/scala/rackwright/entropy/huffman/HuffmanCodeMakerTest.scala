package rackwright.entropy.huffman

import circt.stage.ChiselStage

import rackwright.BlockTest

/** Codes from counts: complete, canonical, not longer than allowed, and hardly longer than the best. */
class HuffmanCodeMakerTest extends BlockTest {
  private val symbols = 32
  private val mostBits = 8

  /** Bits of the best code whose words have at most `mostBits` bits: package-merge (Larmore and Hirschberg 1990). */
  private def best(counts: Seq[Int]): Int = {
    val leaves = counts.sorted
    val packages = (1 until mostBits).foldLeft(leaves) { (items, _) =>
      (leaves ++ items.grouped(2).collect { case Seq(a, b) => a + b }).sorted
    }
    packages.take(2 * counts.length - 2).sum
  }

  private def words(dut: HuffmanCodeMaker, counts: Seq[Int]): Map[Int, (Int, Int)] = {
    dut.start.poke(true)
    dut.finish.poke(false)
    dut.count.valid.poke(false)
    dut.clock.step()
    dut.start.poke(false)
    for ((count, symbol) <- counts.zipWithIndex) {
      dut.count.valid.poke(true)
      dut.count.bits.symbol.poke(symbol)
      dut.count.bits.count.poke(count)
      dut.clock.step()
    }
    dut.count.valid.poke(false)
    dut.finish.poke(true)
    dut.clock.step()
    dut.finish.poke(false)
    var found = Map.empty[Int, (Int, Int)]
    def see(): Unit = if (holds(dut.word.valid)) {
      val word = dut.word.bits.word
      found += number(dut.word.bits.symbol) -> (number(word.length), number(word.code))
    }
    await(dut.clock, holds(dut.done), 5000)(see())
    see()
    dut.clock.step()
    found
  }

  test("words that may be too short for so many symbols are refused") {
    val error = intercept[IllegalArgumentException](ChiselStage.elaborate(new HuffmanCodeMaker(16, symbols, 7)))
    assert(error.getMessage.contains("32 symbols whose words have at most 7 bits"))
  }

  test("words are a complete code in the order of RFC 8878, near the best") {
    val random = seeded(4)
    block(new HuffmanCodeMaker(16, symbols, mostBits)) { dut =>
      for (skew <- 0 until 12) {
        val counts = Seq.fill(symbols)(if (random.nextInt(4) == 0) 0 else 1 + random.nextInt(1 << (skew + 1)) / 2)
        val used = counts.indices.filter(counts(_) > 0)
        val found = words(dut, counts)
        assert(found.keySet == used.toSet)
        assert(found.values.map { case (length, _) => 1 << (mostBits - length) }.sum == 1 << mostBits)
        // The longest words have the lowest values; of one length, symbols ascend.
        val ordered = used.sortBy(symbol => (-found(symbol)._1, symbol))
        val starts = ordered.scanLeft(0)((sum, symbol) => sum + (1 << (mostBits - found(symbol)._1)))
        for ((symbol, start) <- ordered.zip(starts))
          assert(found(symbol)._2 == start >> (mostBits - found(symbol)._1), s"the word of $symbol")
        val bits = used.map(symbol => counts(symbol) * found(symbol)._1).sum
        assert(value(dut.summary.bits) == bits)
        val least = best(used.map(counts))
        assert(bits >= least && bits <= least * 1.03, s"$bits bits, where $least are enough")
      }
    }
  }
}
