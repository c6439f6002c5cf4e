package rackwright.queue

import chisel3._
import chisel3.util.Valid

import rackwright.port.MemoryPort

/** An end of a queue in memory, the producer or the consumer: their common part.
  *
  * @param bytes
  *   of an element.
  * @param others
  *   further kinds of queues.
  * @param wrong
  *   the reason for a stop if the queue is invalid.
  * @param tellsAdvance
  *   whether it has the output `advanced`.
  */
abstract class QueueEnd(
    bytes: Int,
    others: Seq[QueueKind],
    protected val wrong: Problem.Type,
    tellsAdvance: Boolean = false
) extends Module {

  /** The address of the header, while `go`. */
  val header = IO(Input(UInt(64.W)))

  /** The queue is open; when it is low, accesses in progress end, and `still` goes high. */
  val go = IO(Input(Bool()))
  val memory = IO(new MemoryPort(LineAccess.port))
  val still = IO(Output(Bool()))

  /** It is inactive until memory responds to a watch, an element arrives or is taken, or an input changes. */
  val quiet = IO(Output(Bool()))

  /** In this cycle it has stopped for good. */
  val problem = IO(Valid(Problem()))

  /** Index of the next element. */
  val index = IO(Output(UInt(64.W)))

  /** The low bits of the index of this side that memory has, when it is known. */
  val stored = IO(Output(Valid(UInt(QueueInterrupt.indexBits.W))))

  /** Memory has acknowledged a further index of this side in this cycle. */
  val advanced: Option[Bool] = Option.when(tellsAdvance)(IO(Output(Bool())))

  protected val side = new QueueSide(bytes, others)
  protected val line = Module(new LineAccess)
  memory <> line.memory
  index := side.own

  /** Memory responds in this cycle: with these words, the first of which may be an index. */
  protected val answered = line.request.fire
  protected val read = line.response.data
  protected val found = read(63, 0)

  /** The turn, in the second word of its beat. */
  protected val turn = read(127, 64)

  /** Data of a compare-and-swap by which this side draws the ticket of its own index. */
  protected val draw: UInt = (side.own + 1.U)(63, 0) ## side.own

  problem.valid := false.B
  problem.bits := wrong

  /** Whether the present watch, if the side `watches`, is from before `forget`. */
  protected def renews(forget: Bool, watches: Bool): Bool = {
    val renewing = RegInit(false.B).suggestName("renewing")
    when(forget && watches && line.busy) { renewing := true.B }
    when(answered) { renewing := false.B }
    renewing
  }

  /** Reports in this cycle the reason for a stop. */
  protected def report(why: Problem.Type): Unit = {
    problem.valid := true.B
    problem.bits := why
  }
}
