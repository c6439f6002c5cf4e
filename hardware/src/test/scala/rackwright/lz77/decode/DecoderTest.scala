package rackwright.lz77.decode

import rackwright.BlockTest
import rackwright.port.MemoryPortParams

import scala.collection.mutable

/** What segments stand for comes out, however memory and both neighbours hesitate. */
class DecoderTest extends BlockTest {
  private val bytes = 16
  private val params = DecoderParams(
    port = MemoryPortParams(bytes, tagBits = 4),
    historyBytes = 2048,
    lookahead = 16,
    literalBytes = 256
  )

  /** Literals, or a copy of so many bytes from `offset` back. */
  private sealed trait Run { def length: Int }
  private case class Literals(content: Seq[Int]) extends Run { def length: Int = content.length }
  private case class Copy(length: Int, offset: Int) extends Run

  /** The output, and memory that gets it line by line. */
  private class Output(destination: Int, whole: Seq[Int]) {
    private val memory = Array.fill(destination + whole.length + 2 * bytes)(-1)
    private var next = destination / bytes
    private var waiting = List.empty[(Int, Int)]
    def lines: Int = next - destination / bytes

    def write(data: BigInt, mask: BigInt): Unit = {
      for (i <- 0 until bytes if mask.testBit(i)) {
        val at = next * bytes + i
        assert(at >= destination && at < destination + whole.length, s"a byte outside of the output: $at")
        assert(memory(at) == -1, s"byte $at comes twice")
        memory(at) = ((data >> (8 * i)) & 255).toInt
      }
      next += 1
    }

    /** A read is asked for; it must be of bytes that are there. */
    def ask(address: Int, tag: Int): Unit = {
      val line = address / bytes * bytes until (address / bytes + 1) * bytes
      assert(line.exists(at => at >= destination && memory(at) != -1), s"a read of nothing at $address")
      waiting = waiting :+ (address -> tag)
    }

    def answer(which: Int): Option[(Int, BigInt)] = waiting.lift(which).map { case (address, tag) =>
      tag -> (0 until bytes).reverse.foldLeft(BigInt(0))((word, i) => (word << 8) | memory(address + i).max(0))
    }
    def answered(which: Int): Unit = waiting = waiting.patch(which, Nil, 1)
    def content: Seq[Int] = memory.slice(destination, destination + whole.length).toSeq
  }

  private def made(runs: Seq[Run]): Seq[Int] = {
    val output = mutable.ArrayBuffer.empty[Int]
    runs.foreach {
      case Literals(content) => output ++= content
      case Copy(length, offset) => for (_ <- 0 until length) output += output(output.length - offset)
    }
    output.toSeq
  }

  /** Runs of all kinds: short and long, near and beyond the history. */
  private def drawn(seed: Int, count: Int): Seq[Run] = {
    val random = seeded(seed)
    var length = 0
    Seq.fill(count) {
      val far = length > params.historyBytes && random.nextInt(5) == 0
      val run: Run =
        if (length == 0 || random.nextInt(3) == 0) Literals(Seq.fill(1 + random.nextInt(bytes))(random.nextInt(256)))
        else if (far)
          Copy(1 + random.nextInt(Segment.most), params.historyBytes + random.nextInt(length - params.historyBytes))
        else Copy(1 + random.nextInt(Segment.most), 1 + random.nextInt(Seq(8, 40, 2000)(random.nextInt(3)).min(length)))
      length += run.length
      run
    }
  }

  private def decode(dut: Decoder, runs: Seq[Run], destination: Int, hesitant: Boolean): Seq[Int] = {
    val random = seeded(12)
    def waits: Boolean = hesitant && random.nextInt(3) > 0
    val whole = made(runs)
    val output = new Output(destination, whole)
    dut.abandon.poke(false)
    dut.finish.poke(false)
    dut.acknowledged.poke(0)
    dut.start.bits.destination.poke(destination)
    dut.start.bits.history.poke(params.historyBytes)
    dut.start.valid.poke(true)
    dut.clock.step()
    dut.start.valid.poke(false)

    // Literals go in two cycles before the segments that use them.
    var left = runs
    val under = mutable.Queue.fill(2)(Seq.empty[Run])
    def done: Boolean = left.isEmpty && under.forall(_.isEmpty) && holds(dut.drained)
    await(dut.clock, done, 40 * runs.length + 2000) {
      val roomy = holds(dut.roomy) && !waits
      val group = if (!roomy) Nil else left.take(if (left.take(2).count(_.isInstanceOf[Literals]) > 1) 1 else 2)
      left = left.drop(group.length)
      under.enqueue(group)
      val literals = group.collectFirst { case Literals(content) => content }
      dut.literals.valid.poke(literals.isDefined)
      literals.foreach { content =>
        val at = random.nextInt(bytes)
        val window = content.zipWithIndex.map { case (byte, i) => BigInt(byte) << (8 * ((at + i) % bytes)) }.sum
        dut.literals.bits.window.poke(window)
        dut.literals.bits.at.poke(at)
        dut.literals.bits.count.poke(content.length)
      }
      val segments = under.dequeue()
      dut.input.valid.poke(segments.nonEmpty)
      for ((segment, i) <- dut.input.bits.segments.zipWithIndex) {
        segment.valid.poke(i < segments.length)
        segments.lift(i).foreach { run =>
          segment.literal.poke(run.isInstanceOf[Literals])
          segment.length.poke(run.length)
          segment.offset.poke(run match { case Copy(_, offset) => offset; case _ => 0 })
        }
      }
      dut.finish.poke(left.isEmpty && under.forall(_.isEmpty) && segments.isEmpty)
      val taking = !waits
      dut.output.ready.poke(taking)
      val asking = !waits
      dut.memory.request.ready.poke(asking)
      val which = random.nextInt(4)
      val answer = if (waits) None else output.answer(which)
      dut.memory.response.valid.poke(answer.isDefined)
      answer.foreach { case (tag, data) =>
        dut.memory.response.bits.tag.poke(tag)
        dut.memory.response.bits.data.poke(data)
        dut.memory.response.bits.fault.poke(false)
      }
      // Of the lines that have left, all are known to be in memory.
      dut.acknowledged.poke(output.lines)
      if (answer.isDefined && holds(dut.memory.response.ready)) output.answered(which)
      if (asking && holds(dut.memory.request.valid))
        output.ask(number(dut.memory.request.bits.address), number(dut.memory.request.bits.tag))
      if (taking && holds(dut.output.valid)) output.write(value(dut.output.bits.data), value(dut.output.bits.mask))
    }
    dut.input.valid.poke(false)
    dut.literals.valid.poke(false)
    assert(value(dut.made) == whole.length)
    output.content
  }

  test("segments become their bytes, near, far, overlapping, at any place") {
    block(new Decoder(params)) { dut =>
      for ((destination, hesitant) <- Seq(4096 -> false, 4099 -> true, 4111 -> false)) {
        val runs = drawn(destination, 350)
        assert(runs.exists { case Copy(_, offset) => offset > params.historyBytes; case _ => false })
        assert(decode(dut, runs, destination, hesitant) == made(runs))
      }
    }
  }
}
