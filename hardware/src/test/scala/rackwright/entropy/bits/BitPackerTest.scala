package rackwright.entropy.bits

import rackwright.BlockTest

/** Strings of bits come out one behind the other, the first lowest. */
class BitPackerTest extends BlockTest {
  private val most = 40

  test("words hold the strings, and the last one what is left") {
    val random = seeded(6)
    block(new BitPacker(most)) { dut =>
      for (_ <- 0 until 20) {
        dut.align.poke(false)
        dut.bits.valid.poke(false)
        dut.clear.poke(true)
        dut.clock.step()
        dut.clear.poke(false)
        var packed, packedBits, out, outBytes = BigInt(0)
        def see(): Unit = if (holds(dut.word.valid)) {
          out |= value(dut.word.bits.data) << (8 * outBytes.toInt)
          outBytes += value(dut.word.bits.count)
        }
        for (_ <- 0 until random.nextInt(60)) {
          val count = random.nextInt(most + 1)
          val string = BigInt(most, random)
          val valid = random.nextInt(4) > 0
          dut.bits.valid.poke(valid)
          dut.bits.bits.value.poke(string)
          dut.bits.bits.count.poke(count)
          see()
          dut.clock.step()
          if (valid) {
            packed |= (string & ((BigInt(1) << count) - 1)) << packedBits.toInt
            packedBits += count
          }
        }
        dut.bits.valid.poke(false)
        dut.align.poke(true)
        see()
        dut.clock.step()
        dut.align.poke(false)
        for (_ <- 0 until 8) {
          see()
          dut.clock.step()
        }
        assert(!holds(dut.busy))
        assert(outBytes == (packedBits + 7) / 8)
        assert(value(dut.bytes) == outBytes)
        assert((out & ((BigInt(1) << (8 * outBytes.toInt)) - 1)) == packed)
      }
    }
  }
}
