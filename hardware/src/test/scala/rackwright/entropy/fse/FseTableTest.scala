package rackwright.entropy.fse

import rackwright.BlockTest
import rackwright.zstd.SequenceCodes

import scala.util.Random

/** Decoding tables against the table that RFC 8878 prints, and against its description. */
class FseTableTest extends BlockTest {

  /** The default counts of literal lengths (section 3.1.1.3.2.2.1). */
  private val literalLengths =
    Seq(4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1)

  /** Symbol, bits and base of the first states of its table (appendix A.1). */
  private val printed = Seq(
    (0, 4, 0),
    (0, 4, 16),
    (1, 5, 32),
    (3, 5, 0),
    (4, 5, 0),
    (6, 5, 0),
    (7, 5, 0),
    (9, 5, 0),
    (10, 5, 0),
    (12, 5, 0),
    (14, 6, 0)
  )

  /** What the table is by section 4.1.1: symbols spread over the states, then bits and bases by their order. */
  private def described(log: Int, counts: Seq[Int]): Seq[(Int, Int, Int)] = {
    val size = 1 << log
    val low = counts.indices.filter(counts(_) == -1)
    val cells = Array.fill(size)(-1)
    for ((symbol, i) <- low.zipWithIndex) cells(size - 1 - i) = symbol
    val free = Iterator.iterate(0)(place => (place + size / 2 + size / 8 + 3) % size).filter(cells(_) == -1)
    for (symbol <- counts.indices; _ <- 0 until counts(symbol)) cells(free.next()) = symbol
    val next = counts.map(count => if (count == -1) 1 else count).toArray
    cells.toSeq.map { symbol =>
      val bits = log - (31 - Integer.numberOfLeadingZeros(next(symbol)))
      val base = (next(symbol) << bits) - size
      next(symbol) += 1
      (symbol, bits, base)
    }
  }

  /** Counts that make a table of that accuracy. */
  private def any(random: Random, log: Int): Seq[Int] = {
    val counts = Array.fill((1 << log).min(40))(Seq(0, 0, -1, 1, 1, 1)(random.nextInt(6)))
    counts(0) = 1
    val takers = counts.indices.filter(counts(_) == 1)
    for (_ <- counts.map(_.abs).sum until 1 << log) counts(takers(random.nextInt(takers.length))) += 1
    counts.toSeq
  }

  private def built(dut: FseTableBuilder, log: Int, counts: Seq[Int]): Seq[(Int, Int, Int)] = {
    dut.build.poke(false)
    dut.count.valid.poke(false)
    dut.start.valid.poke(true)
    dut.start.bits.poke(log)
    dut.clock.step()
    dut.start.valid.poke(false)
    for ((count, symbol) <- counts.zipWithIndex if count != 0) {
      dut.count.valid.poke(true)
      dut.count.bits.symbol.poke(symbol)
      dut.count.bits.low.poke(count == -1)
      dut.count.bits.count.poke(count.max(1))
      dut.clock.step()
    }
    dut.count.valid.poke(false)
    dut.build.poke(true)
    dut.clock.step()
    dut.build.poke(false)
    val table = Array.fill(1 << log)((-1, -1, -1))
    await(dut.clock, !holds(dut.busy), 5000) {
      if (holds(dut.write.valid)) {
        val entry = dut.write.bits.entry
        table(number(dut.write.bits.state)) = (number(entry.symbol), number(entry.bits), number(entry.base))
      }
    }
    table.toSeq
  }

  test("the printed table, and random ones as described") {
    val random = seeded(5)
    block(new FseTableBuilder) { dut =>
      val predefined = built(dut, 6, literalLengths)
      assert(predefined.take(printed.length) == printed)
      assert(predefined == described(6, literalLengths))
      for (log <- 5 to 9) {
        val counts = any(random, log)
        assert(built(dut, log, counts) == described(log, counts), s"accuracy $log")
      }
    }
  }

  test("tables that are known when the hardware is made") {
    assert(SequenceCodes.predefined.head == literalLengths)
    assert(FseTable.entries(6, literalLengths).take(printed.length) == printed)
    for ((counts, log) <- SequenceCodes.predefined.zip(SequenceCodes.predefinedLog))
      assert(FseTable.entries(log, counts) == described(log, counts))
    val random = seeded(7)
    for (log <- 5 to 9; _ <- 0 until 20) {
      val counts = any(random, log)
      assert(FseTable.entries(log, counts) == described(log, counts), s"accuracy $log")
    }
  }
}
