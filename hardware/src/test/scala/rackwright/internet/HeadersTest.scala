package rackwright.internet

import chisel3._
import chisel3.util._

import rackwright.BlockTest

import scala.collection.mutable

/** The boxes that change where a frame begins and ends, side by side, each with ports of its own. */
class HeaderBoxes extends Module {
  private def piece = new Piece(UInt(8.W))
  val in = IO(Vec(3, Flipped(Decoupled(piece))))
  val out = IO(Vec(3, Decoupled(piece)))

  /** How many bytes each takes away, leaves, or puts before; as each frame is numbered by what is known of it. */
  val bytes = IO(Input(Vec(3, UInt(8.W))))
  val header = IO(Input(UInt((8 * 20).W)))
  val cut = IO(Output(Bool()))
  val short = IO(Output(Bool()))

  private val stripper = Module(new Stripper(UInt(8.W), 60))
  private val trimmer = Module(new Trimmer(UInt(8.W)))
  private val prepender = Module(new Prepender(UInt(8.W), 20))
  stripper.bytes := bytes(0)(5, 0)
  trimmer.bytes := bytes(1)
  prepender.bytes := bytes(2)(4, 0)
  prepender.header := header
  for (
    ((source, sink), i) <- Seq(stripper.in -> stripper.out, trimmer.in -> trimmer.out, prepender.in -> prepender.out)
      .zipWithIndex
  ) {
    source <> in(i)
    out(i) <> sink
  }
  cut := stripper.cut
  short := trimmer.short
}

/** Headers come off, go on, and ends are cut, at every alignment, however the neighbours hesitate. */
class HeadersTest extends BlockTest {
  private val names = Seq("Stripper", "Trimmer", "Prepender")

  /** What each box makes of a frame, in plain arithmetic, and whether it says that the frame was too short. */
  private def expected(box: Int, frame: Seq[Int], bytes: Int, header: Seq[Int]): (Seq[Int], Boolean) = box match {
    case 0 => (frame.drop(bytes), frame.length < bytes)
    case 1 => (frame.take(bytes), frame.length < bytes)
    case _ => (header.take(bytes) ++ frame, false)
  }

  private def word(bytes: Seq[Int]): BigInt = bytes.reverse.foldLeft(BigInt(0))((all, byte) => all << 8 | byte)

  test("frames come out as plain arithmetic has them") {
    block(new HeaderBoxes) { dut =>
      val random = seeded(52)
      val header = Seq.fill(20)(random.nextInt(256))
      for (box <- names.indices; amount <- Seq(14, 18, 20, 24, 8, 3, 40) if box < 2 || Set(8, 14, 18, 20)(amount)) {
        dut.bytes(box).poke(amount)
        dut.header.poke(word(header.take(amount)))
        val frames = Seq.fill(10)(Seq.fill(1 + random.nextInt(70))(random.nextInt(256)))
        val flits = mutable.Queue.from(frames.zipWithIndex.flatMap { case (frame, number) =>
          val parts = frame.grouped(8).toSeq
          parts.zipWithIndex.map { case (part, i) => (part, i == parts.length - 1, number) }
        })
        val found = mutable.ArrayBuffer.empty[(Seq[Int], Boolean, Int)]
        var open = Seq.empty[Int]
        var cycles = 0
        while (found.length < frames.length || flits.nonEmpty) {
          val gives = flits.nonEmpty && random.nextInt(4) != 0
          dut.in(box).valid.poke(gives)
          if (gives) {
            val (part, last, number) = flits.head
            dut.in(box).bits.flit.data.poke(word(part))
            dut.in(box).bits.flit.count.poke(part.length)
            dut.in(box).bits.flit.last.poke(last)
            dut.in(box).bits.about.poke(number)
          }
          dut.out(box).ready.poke(random.nextInt(4) != 0)
          if (holds(dut.out(box).valid) && holds(dut.out(box).ready)) {
            val (data, count) = (value(dut.out(box).bits.flit.data), number(dut.out(box).bits.flit.count))
            open = open ++ (0 until count).map(i => ((data >> 8 * i) & 255).toInt)
            if (holds(dut.out(box).bits.flit.last)) {
              val tooShort = Seq(holds(dut.cut), holds(dut.short), false)(box)
              found += ((open, tooShort, number(dut.out(box).bits.about)))
              open = Nil
            } else {
              assert(count == 8, s"${names(box)} gives a flit that is not full in a frame")
            }
          }
          if (gives && holds(dut.in(box).ready)) flits.dequeue()
          dut.clock.step()
          cycles += 1
          assert(cycles < 5000, s"${names(box)} stands still")
        }
        dut.in(box).valid.poke(false)
        for (((frame, (bytes, tooShort, about)), number) <- frames.zip(found).zipWithIndex) {
          val (wanted, wantedShort) = expected(box, frame, amount, header)
          assert(bytes == wanted, s"${names(box)} by $amount, frame $number of ${frame.length} bytes")
          assert(tooShort == wantedShort, s"${names(box)} by $amount, frame $number")
          assert(about == number, s"${names(box)}: another frame's")
        }
      }
    }
  }
}

/** Frames that are lost leave nothing behind, and those that are kept come whole. */
class FrameBufferTest extends BlockTest {
  test("whole frames come out in order, and lost ones never") {
    for (waits <- Seq(false, true)) block(new FrameBuffer(UInt(8.W), 16, 4, waits)) { dut =>
      val random = seeded(7)
      val wanted = mutable.Queue.empty[(Int, Boolean, Int)]
      var frame = Seq.empty[(Int, Boolean, Int)]
      var (left, lost, number, dropped) = (0, false, 0, 0)
      for (cycle <- 0 until 4000) {
        if (left == 0) {
          left = 1 + random.nextInt(12)
          lost = random.nextInt(4) == 0
          number = (number + 1) % 200
          frame = Nil
        }
        val gives = cycle < 3800 && random.nextInt(8) != 0
        val byte = random.nextInt(256)
        dut.in.valid.poke(gives)
        dut.in.bits.flit.data.poke(byte)
        dut.in.bits.flit.count.poke(8)
        dut.in.bits.flit.last.poke(left == 1)
        dut.in.bits.about.poke(number)
        dut.lose.poke(lost && (waits || left == 1))
        dut.out.ready.poke(random.nextInt(3) == 0 || cycle >= 3800)
        if (holds(dut.out.valid) && holds(dut.out.ready)) {
          val out =
            (this.number(dut.out.bits.flit.data), holds(dut.out.bits.flit.last), this.number(dut.out.bits.about))
          assert(out == wanted.dequeue(), s"cycle $cycle")
        }
        if (gives && holds(dut.in.ready)) {
          frame = frame :+ ((byte, left == 1, number))
          if (left == 1) {
            if (!lost && holds(dut.full)) dropped += 1
            else if (!lost) wanted ++= frame
          }
          left -= 1
        }
        dut.clock.step()
      }
      assert(wanted.isEmpty, "something did not come out")
      assert((dropped > 0) != waits, "a buffer drops what it has no room for, or waits")
    }
  }
}
