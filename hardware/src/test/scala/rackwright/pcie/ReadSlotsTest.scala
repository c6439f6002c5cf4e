package rackwright.pcie

import rackwright.BlockTest

import scala.collection.mutable
import scala.util.Random

/** Completers that break the rules: each error is told once, no data are given that do not belong to a read, and each
  * read ends.
  */
class ReadSlotsTest extends BlockTest {
  private val params = Params(tags = 4, readBytes = 128, packets = 2)
  private val requester = 0x0300
  private val (poisoned, unexpected) = (12, 16)

  /** A completion, as it is sent: its length in words, the bytes that are still to come, and its lower address. */
  private case class Completion(
      tag: Int,
      words: Int,
      bytes: Int,
      lower: Int,
      status: Int = 0,
      hasData: Boolean = true,
      isPoisoned: Boolean = false,
      to: Int = requester
  ) {
    def header: Seq[Long] = Seq(
      (if (hasData) 0x4a000000L else 0x0a000000L) | (if (isPoisoned) 1 << 14 else 0) | (words & 0x3ff),
      (status << 13) | (bytes & 0xfff),
      (to.toLong << 16) | (tag << 8) | lower,
      0
    )
    def beats: Int = if (hasData) (words + 3) / 4 else 0
  }

  /** A beat that was given: its data, unless it is a fault. */
  private case class Given(data: Option[BigInt], last: Boolean)

  /** The block, and what it has told. */
  private class Bench(dut: ReadSlots) {
    val outputs = mutable.Buffer[Given]()
    val errors = mutable.Buffer[Int]()
    var unexpectedOnes = 0

    dut.extended.poke(true)
    dut.requester.poke(requester)
    dut.reserve.valid.poke(false)
    dut.completion.valid.poke(false)
    dut.beat.ready.poke(true)

    def step(cycles: Int = 1): Unit = for (_ <- 0 until cycles) {
      if (holds(dut.beat.valid)) {
        val data = Option.unless(holds(dut.beat.bits.fault))(value(dut.beat.bits.data))
        outputs += Given(data, holds(dut.beat.bits.last))
      }
      if (holds(dut.error.valid)) errors += number(dut.error.bits.fault)
      if (holds(dut.unexpected)) unexpectedOnes += 1
      dut.clock.step()
    }

    /** A read of so many beats leaves; gives its tag. */
    def ask(address: Long, beats: Int): Int = {
      await(dut.clock, holds(dut.reserve.ready), 100)(())
      val tag = number(dut.tag)
      dut.reserve.valid.poke(true)
      dut.reserve.bits.address.poke(address)
      dut.reserve.bits.beats.poke(beats)
      dut.reserve.bits.last.poke(true)
      step()
      dut.reserve.valid.poke(false)
      tag
    }

    /** The completion arrives with these beats. */
    def send(completion: Completion, data: Int => BigInt): Unit = {
      dut.completion.valid.poke(true)
      val header = dut.completion.bits.header.words
      header.zip(completion.header).foreach { case (word, bits) => word.poke(bits) }
      val beats = completion.beats.max(1)
      for (beat <- 0 until beats) {
        dut.completion.bits.data.poke(data(beat))
        dut.completion.bits.first.poke(beat == 0)
        dut.completion.bits.last.poke(beat + 1 == beats)
        step()
      }
      dut.completion.valid.poke(false)
    }

    def settle(): Unit = {
      step(40)
      dut.idle.expect(true)
    }
  }

  private def data(address: Long)(beat: Int): BigInt = BigInt(address) + 16 * beat + (BigInt(7) << 100)

  /** The right completion of all that is left of a read, `done` beats of which have come. */
  private def right(tag: Int, address: Long, beats: Int, done: Int): Completion = {
    val left = beats - done
    Completion(tag, 4 * left, 16 * left, ((address + 16 * done) & 0x7f).toInt)
  }

  test("a completion that differs from its request is counted and recorded, and its read ends without data") {
    block(new ReadSlots(params)) { dut =>
      val bench = new Bench(dut)
      val address = 0x12345030L
      val wrong = Seq[(Completion => Completion, Int)](
        (_.copy(lower = 0x34), unexpected),
        (_.copy(lower = 0x31), unexpected),
        (_.copy(lower = 0), unexpected),
        (each => each.copy(bytes = each.bytes + 16), unexpected),
        (each => each.copy(bytes = each.bytes - 1), unexpected),
        (each => each.copy(words = each.words + 4), unexpected),
        (each => each.copy(words = each.words - 1), unexpected),
        (_.copy(words = 1), unexpected),
        (_.copy(hasData = false), unexpected),
        (_.copy(isPoisoned = true), poisoned)
      )
      for (((change, fault), number) <- wrong.zipWithIndex) {
        val tag = bench.ask(address, 4)
        bench.send(change(right(tag, address, 4, 0)), _ => BigInt(0xbad))
        bench.settle()
        assert(bench.errors.toSeq == Seq(fault), s"completion $number")
        assert(bench.unexpectedOnes == (if (fault == unexpected) 1 else 0), s"completion $number")
        assert(bench.outputs.toSeq == Seq.tabulate(4)(beat => Given(None, beat == 3)), s"completion $number")
        bench.outputs.clear()
        bench.errors.clear()
        bench.unexpectedOnes = 0
      }
      // The right one is still taken, in two parts, the second of which begins at a multiple of 128 bytes.
      val tag = bench.ask(0x1060, 4)
      bench.send(Completion(tag, 8, 64, 0x60), data(0x1060))
      bench.send(Completion(tag, 8, 32, 0), data(0x1080))
      bench.settle()
      assert(bench.outputs.map(_.data.get) == Seq.tabulate(4)(data(0x1060)))
      assert(bench.errors.isEmpty)
    }
  }

  test("a completion that nobody waits for is counted, recorded and dropped") {
    block(new ReadSlots(params)) { dut =>
      val bench = new Bench(dut)
      bench.send(right(2, 0x1000, 4, 0), _ => BigInt(0xbad))
      val tag = bench.ask(0x1000, 4)
      val expected = right(tag, 0x1000, 4, 0)
      val others = Seq(expected.copy(to = 0x0301), expected.copy(tag = 9), expected.copy(tag = (tag + 1) % 4))
      others.foreach(bench.send(_, _ => BigInt(0xbad)))
      bench.send(expected, data(0x1000))
      bench.send(expected, _ => BigInt(0xbad))
      bench.settle()
      assert(bench.errors.toSeq == Seq.fill(5)(unexpected) && bench.unexpectedOnes == 5)
      assert(bench.outputs.map(_.data.get) == Seq.tabulate(4)(data(0x1000)))
    }
  }

  test("a read without a completion ends, and its late completion is one that nobody waits for") {
    block(new ReadSlots(params)) { dut =>
      val bench = new Bench(dut)
      val tag = bench.ask(0x1000, 2)
      dut.clock.step((1 << ReadSlots.timeOutBits) - 1)
      dut.timedOut.expect(true)
      bench.settle()
      assert(bench.outputs.toSeq == Seq(Given(None, last = false), Given(None, last = true)))
      bench.send(right(tag, 0x1000, 2, 0), _ => BigInt(0xbad))
      assert(bench.errors.toSeq == Seq(unexpected))
      // The other three tags serve.
      assert(Seq.fill(3)(bench.ask(0x1000, 1)).toSet == (0 until 4).toSet - tag)
      dut.reserve.ready.expect(false)
    }
  }

  test("whatever completions say, beats are those of the memory or faults, and every read ends") {
    block(new ReadSlots(params)) { dut =>
      val bench = new Bench(dut)
      val draw = seeded(50)
      for (_ <- 0 until 400) {
        bench.outputs.clear()
        val (first, beats) = (draw.nextInt(8), 1 + draw.nextInt(8))
        val address = 0x4000L + 16 * first
        val tag = bench.ask(address, beats)
        var (done, failed) = (0, false)
        while (done < beats && !failed) {
          val part = 1 + draw.nextInt(beats - done)
          val good = right(tag, address, beats, done).copy(words = 4 * part)
          val sent = if (draw.nextInt(3) == 0) changed(draw, good) else good
          bench.errors.clear()
          bench.send(sent, if (sent == good) data(address + 16 * done) else _ => BigInt(0xbad))
          bench.step()
          assert(bench.errors.isEmpty || sent != good, s"$good")
          val isOurs = sent.to == requester && sent.tag == tag
          assert(bench.errors.nonEmpty || sent == good || isOurs && sent.status != 0, s"$sent of $good")
          if (sent == good) done += part else failed = isOurs
        }
        bench.settle()
        assert(bench.outputs.map(_.last).toSeq == Seq.tabulate(beats)(_ == beats - 1))
        val read = bench.outputs.takeWhile(_.data.nonEmpty).map(_.data.get)
        assert(read == Seq.tabulate(read.length)(data(address)) && read.length <= done)
        assert(failed || read.length == beats)
        assert(bench.outputs.drop(read.length).forall(_.data.isEmpty))
      }
    }
  }

  /** The same completion with some other value in one field. */
  private def changed(draw: Random, good: Completion): Completion = {
    val sent = draw.nextInt(8) match {
      case 0 => good.copy(lower = draw.nextInt(128))
      case 1 => good.copy(bytes = draw.nextInt(4096))
      case 2 => good.copy(words = 1 + draw.nextInt(64))
      case 3 => good.copy(status = 1 + draw.nextInt(7))
      case 4 => good.copy(hasData = false)
      case 5 => good.copy(isPoisoned = true)
      case 6 => good.copy(to = draw.nextInt(1 << 16))
      case _ => good.copy(tag = draw.nextInt(256))
    }
    // Another length of whole beats is the right one of another part.
    val isRight = sent.copy(words = good.words) == good && sent.words % 4 == 0 && 4 * sent.words <= good.bytes
    if (isRight) good.copy(lower = good.lower ^ 0x10) else sent
  }
}
