package rackwright.lz77.encode

import rackwright.BlockTest

import scala.collection.mutable

/** Sequences and literals are the input, whoever hesitates. */
class EncoderTest extends BlockTest {
  private val streamBytes = 16
  private val params = EncoderParams(historyKib = 2, hashLog2 = 9, hashBanks = 8, literalKib = 1)

  /** A copy from so far back, then literals. */
  private case class Found(matchLength: Int, distance: Int, literals: Seq[Int])

  /** The sequences of `input`; in three of four cycles neither side does anything, if `hesitant`. */
  private def sequences(dut: Encoder, input: Seq[Int], hesitant: Boolean): Seq[Found] = {
    val random = seeded(7)
    def waits: Boolean = hesitant && random.nextInt(4) > 0
    dut.clear.poke(true)
    dut.clock.step()
    dut.clear.poke(false)
    dut.job.bits.length.poke(input.length)
    dut.job.bits.maxOffset.poke(params.maxDistance)
    dut.job.bits.hashLog2.poke(params.hashLog2)
    dut.job.valid.poke(true)
    await(dut.clock, holds(dut.job.ready), 1000)(())
    dut.clock.step()
    dut.job.valid.poke(false)

    val found = mutable.Buffer.empty[Found]
    val literals = mutable.Buffer.empty[Int]
    var (at, last) = (0, false)
    await(dut.clock, last, 20 * input.length + 2000) {
      val offered = if (waits) 0 else (input.length - at).min(1 + random.nextInt(streamBytes))
      dut.stream.available.poke(offered)
      dut.stream.last.poke(at + offered == input.length)
      dut.stream.fault.poke(false)
      for (i <- 0 until streamBytes) dut.stream.data(i).poke(if (i < offered) input(at + i) else 0xee)
      val valid = holds(dut.sequence.valid) && !waits
      val wanted = if (valid) number(dut.sequence.bits.literals) - literals.length else 0
      val taken = wanted.min(8)
      val word = value(dut.literals)
      literals ++= (0 until taken).map(i => ((word >> (8 * i)) & 255).toInt)
      dut.consume.poke(taken)
      val leaves = valid && taken == wanted
      dut.sequence.ready.poke(leaves)
      if (leaves) {
        val sequence = dut.sequence.bits
        found += Found(number(sequence.matchLength), number(sequence.distance), literals.toSeq)
        literals.clear()
        last = holds(sequence.last)
      }
      at += number(dut.stream.consume)
    }
    dut.sequence.ready.poke(false)
    dut.consume.poke(0)
    found.toSeq
  }

  private def decoded(found: Seq[Found]): Seq[Int] = found.foldLeft(Vector.empty[Int]) { (output, sequence) =>
    assert(
      sequence.matchLength == 0 || sequence.distance >= 1 && sequence.distance <= output.length.min(params.maxDistance)
    )
    val copied =
      (0 until sequence.matchLength).foldLeft(output)((bytes, _) => bytes :+ bytes(bytes.length - sequence.distance))
    copied ++ sequence.literals
  }

  test("sequences make the input, and depend on nothing else") {
    val random = seeded(8)
    val words = Seq.fill(20)(Seq.fill(3 + random.nextInt(9))(97 + random.nextInt(20)))
    val text = Iterator.continually(words(random.nextInt(20))).flatten.take(2500).toVector
    val inputs = Seq(text, Seq.fill(900)(7), Seq.fill(300)(random.nextInt(256)), Seq(1, 2, 3), Seq.empty)
    block(new Encoder(params, streamBytes, 8)) { dut =>
      for (input <- inputs) {
        val steady = sequences(dut, input, hesitant = false)
        assert(decoded(steady) == input)
        assert(sequences(dut, input, hesitant = true) == steady)
      }
      assert(sequences(dut, text, hesitant = false).map(_.matchLength).sum > text.length * 2 / 3)
    }
  }
}
