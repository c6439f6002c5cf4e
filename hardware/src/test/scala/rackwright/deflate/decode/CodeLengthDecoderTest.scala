package rackwright.deflate.decode

import chisel3._

import rackwright.BlockTest

import CodeLengthDecoder.{extra, lanes, mostBits, order, reach, symbols}

/** The code of a description against the algorithm of RFC 1951, section 3.2.2. */
class CodeLengthDecoderTest extends BlockTest {

  /** The words of symbols that have one, first bit first. */
  private def words(lengths: Seq[Int]): Map[Int, String] = {
    val sorted = lengths.indices.filter(lengths(_) > 0).sortBy(symbol => (lengths(symbol), symbol))
    val values = sorted.scanLeft(0)((code, symbol) => code + (1 << (mostBits - lengths(symbol)))).init
    sorted.zip(values).map { case (symbol, value) =>
      symbol -> (mostBits - 1 to mostBits - lengths(symbol) by -1).map(i => (value >> i) & 1).mkString
    }.toMap
  }

  private def build(dut: CodeLengthDecoder, lengths: Seq[Int]): Unit = {
    def pulse(pin: Bool): Unit = {
      pin.poke(true)
      dut.clock.step()
      pin.poke(false)
    }
    dut.advance.poke(false)
    pulse(dut.start)
    for (group <- order.grouped(lanes)) {
      for (i <- 0 until lanes) dut.group.bits(i).poke(if (i < group.size) lengths(group(i)) else 0)
      pulse(dut.group.valid)
    }
    pulse(dut.build)
    await(dut.clock, holds(dut.done), 20) {}
  }

  test("a code is found in each cycle, and a code that is not complete is told") {
    val random = seeded(5)
    block(new CodeLengthDecoder) { dut =>
      var complete = 0
      // Two symbols of each length from 2 on, then one that completes the code or not.
      for (round <- 0 until 30) {
        val some = random.shuffle((0 until symbols).toList).take(if (round % 3 == 0) 2 else 8)
        val long = Seq(1, 2, 3, 4, 5, 6, 7, if (round % 5 == 0) 6 else 7)
        val lengths = Seq.tabulate(symbols) { symbol =>
          val place = some.indexOf(symbol)
          if (place < 0) 0 else if (some.size == 2) 1 else long(place)
        }
        build(dut, lengths)
        val isComplete = lengths.filter(_ > 0).map(length => 1 << (mostBits - length)).sum == 1 << mostBits
        assert(holds(dut.complete) == isComplete)
        if (isComplete) {
          complete += 1
          val code = words(lengths)
          val text = Seq.fill(40)(some(random.nextInt(some.size)))
          var bits = text.map(symbol => code(symbol) + Seq.fill(extra(symbol))(random.nextInt(2)).mkString).mkString
          def show(): Unit = dut.window.poke(BigInt(bits.take(reach).padTo(reach, '0').reverse, 2))
          show()
          dut.advance.poke(true)
          dut.clock.step()
          for (symbol <- text) {
            assert(number(dut.found.symbol) == symbol)
            assert(number(dut.found.codeBits) == lengths(symbol))
            assert(number(dut.found.whole) == lengths(symbol) + extra(symbol))
            show()
            dut.clock.step()
            bits = bits.drop(lengths(symbol) + extra(symbol))
          }
        }
      }
      assert(complete > 20)
    }
  }
}
