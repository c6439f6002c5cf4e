package rackwright.queue

import chisel3._
import chisel3.util.Valid

import rackwright.port.MemoryPort

/** An end of a queue in memory, the producer or the consumer: what both have.
  *
  * @param bytes
  *   of an element.
  * @param wrong
  *   why it stops when the queue is not as it must be.
  */
abstract class QueueEnd(bytes: Int, protected val wrong: Problem.Type) extends Module {

  /** Where the header is, while `go`. */
  val header = IO(Input(UInt(64.W)))

  /** The queue is open; without it, what is under way ends, and `still` tells when. */
  val go = IO(Input(Bool()))
  val memory = IO(new MemoryPort(LineAccess.port))
  val still = IO(Output(Bool()))

  /** Nothing happens before memory answers a watch, an element comes or is taken, or an input changes. */
  val quiet = IO(Output(Bool()))

  /** In this cycle it has stopped for good. */
  val problem = IO(Valid(Problem()))

  /** Index of the next element. */
  val index = IO(Output(UInt(64.W)))

  protected val side = new QueueSide(bytes)
  protected val line = Module(new LineAccess)
  memory <> line.memory
  index := side.own

  /** Memory answers in this cycle: with these words, of which the first may be an index. */
  protected val answered = line.request.fire
  protected val read = line.response.data
  protected val found = read(63, 0)

  problem.valid := false.B
  problem.bits := wrong

  /** Tells in this cycle why it stops. */
  protected def report(why: Problem.Type): Unit = {
    problem.valid := true.B
    problem.bits := why
  }
}
