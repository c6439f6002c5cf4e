package rackwright.stream

import chisel3._
import chisel3.util._

import rackwright.BlockTest
import rackwright.memory.SramQueue

import scala.collection.mutable

/** All queues side by side, each with ports of its own. */
class Queues extends Module {
  private val entry = UInt(8.W)
  val in = IO(Vec(Queues.names.length, Flipped(Decoupled(entry))))
  val out = IO(Vec(Queues.names.length, Decoupled(entry)))

  private val skid = Module(new SkidBuffer(entry))
  skid.clear := false.B
  private val heads = Seq(false, true).map(direct => Module(new HeadQueue(entry, 4, direct)))
  private val srams = Seq(false, true).map(direct => Module(new SramQueue(entry, 8, direct)))
  srams.foreach(_.clear := false.B)
  private val ports =
    (skid.in -> skid.out) +: (heads.map(queue => queue.in -> queue.out) ++ srams.map(queue => queue.enq -> queue.deq))
  for (((source, sink), i) <- ports.zipWithIndex) {
    source <> in(i)
    out(i) <> sink
  }
}

object Queues {
  val names: Seq[String] = Seq("SkidBuffer", "HeadQueue", "HeadQueue, direct", "SramQueue", "SramQueue, direct")

  /** Entries that each holds. */
  val room: Seq[Int] = Seq(2, 4, 4, 11, 11)
}

/** Queues keep order, lose nothing and double nothing, however their users hesitate. */
class QueuesTest extends BlockTest {
  test("what goes in comes out, once and in order") {
    block(new Queues) { dut =>
      val random = seeded(1)
      val held = Queues.names.map(_ => mutable.Queue.empty[Int])
      for (cycle <- 0 until 3000) {
        // Phases in which more goes in than comes out, and the reverse; at the end all is taken.
        val (giving, taking) = if (cycle >= 2900) (0, 4) else Seq((3, 1), (1, 3), (4, 4), (2, 2))(cycle / 50 % 4)
        for (i <- Queues.names.indices) {
          dut.in(i).valid.poke(random.nextInt(4) < giving)
          dut.in(i).bits.poke(random.nextInt(256))
          dut.out(i).ready.poke(random.nextInt(4) < taking)
        }
        for ((queue, i) <- held.zipWithIndex) {
          val name = Queues.names(i)
          val comes = holds(dut.out(i).valid)
          assert(!comes || queue.nonEmpty, s"$name gives what it was not given")
          if (comes) assert(number(dut.out(i).bits) == queue.head, s"$name, cycle $cycle")
          if (holds(dut.in(i).valid) && holds(dut.in(i).ready)) queue.enqueue(number(dut.in(i).bits))
          if (comes && holds(dut.out(i).ready)) queue.dequeue()
          assert(queue.length <= Queues.room(i), s"$name takes more than it holds")
        }
        dut.clock.step()
      }
      assert(held.forall(_.isEmpty), "something did not come out")
    }
  }
}
