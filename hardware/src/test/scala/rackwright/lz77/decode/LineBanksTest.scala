package rackwright.lz77.decode

import rackwright.BlockTest

/** A read gives two neighbouring lines as they were before its cycle. */
class LineBanksTest extends BlockTest {
  private val bytes = 16
  private val lines = 8

  test("lines read at any byte are those that were written") {
    val random = seeded(9)
    block(new LineBanks(bytes, lines)) { dut =>
      val kept = Array.fill(lines)(BigInt(0))
      // Every line is written before one is looked at.
      for (cycle <- 0 until 600) {
        val written =
          if (cycle < lines / 2) Seq(2 * cycle, 2 * cycle + 1) else Seq(0, 1).map(2 * random.nextInt(lines / 2) + _)
        val words = written.map(_ => BigInt(8 * bytes, random))
        val writes = written.map(_ => cycle < lines / 2 || random.nextBoolean())
        for (bank <- 0 to 1) {
          dut.write(bank).poke(writes(bank))
          dut.row(bank).poke(written(bank) / 2)
          dut.data(bank).poke(words(bank))
        }
        val start = random.nextInt(lines * bytes)
        val pair = Seq(start / bytes, (start / bytes + 1) % lines)
        // What a memory gives of a word that is being written is not defined.
        val collides = (0 to 1).exists(bank => writes(bank) && pair.contains(written(bank)))
        val expected = kept(pair(0)) | (kept(pair(1)) << (8 * bytes))
        dut.start.poke(start)
        dut.read.poke(true)
        dut.clock.step()
        if (cycle >= lines / 2 && !collides) assert(value(dut.pair) == expected, s"cycle $cycle")
        for (bank <- 0 to 1) if (writes(bank)) kept(written(bank)) = words(bank)
      }
    }
  }
}
