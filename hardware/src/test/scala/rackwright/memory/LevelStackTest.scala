package rackwright.memory

import chisel3._

import rackwright.BlockTest

/** A stack gives back the latest. */
class LevelStackTest extends BlockTest {
  test("what was pushed last is popped first") {
    block(new LevelStack(UInt(8.W), 8)) { dut =>
      val random = seeded(2)
      var kept = List.empty[Int]
      for (_ <- 0 until 500) {
        assert(holds(dut.empty) == kept.isEmpty)
        assert(holds(dut.full) == (kept.length == 8))
        val clear = random.nextInt(40) == 0
        val push = !clear && kept.length < 8 && random.nextBoolean()
        val pop = !clear && !push && kept.nonEmpty && random.nextBoolean()
        val entry = random.nextInt(256)
        dut.clear.poke(clear)
        dut.push.valid.poke(push)
        dut.push.bits.poke(entry)
        dut.pop.poke(pop)
        dut.clock.step()
        assert(holds(dut.popped.valid) == pop)
        if (pop) assert(number(dut.popped.bits) == kept.head)
        kept = if (clear) Nil else if (push) entry :: kept else if (pop) kept.tail else kept
      }
    }
  }
}
