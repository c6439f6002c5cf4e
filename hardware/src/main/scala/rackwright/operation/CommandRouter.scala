package rackwright.operation

import chisel3._
import chisel3.util._

import rackwright.port.{CommandPort, MemoryPort, MemoryPortParams}

/** Turns commands into operations for a streaming unit and answers questions about those that ended.
  *
  * Mostly wires: [[CommandDecoder]] understands commands, a queue holds started operations, [[CompletionStage]] takes
  * the results and writes flags and records. README.md is the contract.
  *
  * @param opcode
  *   n of the custom-n this unit listens to; commands with another are taken and not obeyed.
  * @param settings
  *   what software may set at run time.
  * @param queueEntries
  *   operations that wait for the unit.
  * @param port
  *   shape of the memory port for flags and records.
  * @param streaming
  *   whether more input may follow for an operation under way.
  * @param underWay
  *   operations that the unit may have taken and not ended.
  */
class CommandRouter(
    opcode: Int,
    settings: Seq[Setting],
    queueEntries: Int,
    port: MemoryPortParams,
    streaming: Boolean = false,
    underWay: Int = 2
) extends Module {

  /** Commands of the core. */
  val command = IO(new CommandPort)

  /** Operations for the unit, in the order of their starts. */
  val operation = IO(Decoupled(new Operation(settings)))

  /** One result per operation, in the same order, given when the writes of the operation have been answered. */
  val result = IO(Flipped(Decoupled(new OperationResult)))

  /** Writes of flags and records. */
  val memory = IO(new MemoryPort(port))

  /** No operation is under way, here or in the unit, and no answer waits. */
  val idle = IO(Output(Bool()))

  /** More input for the operation under way, which nothing was started after: taken when it can use it. Bytes that it
    * has written.
    */
  val extension = Option.when(streaming)(IO(Decoupled(new InputExtension)))
  val written = Option.when(streaming)(IO(Input(UInt(64.W))))

  private val decoder = Module(new CommandDecoder(opcode, settings, streaming))
  private val completion = Module(new CompletionStage(port, underWay))
  // The oldest stands in a register, as units add and compare what it says in the cycle in which they take it.
  private val started = Queue(Queue(decoder.started, queueEntries), 1, pipe = true)

  command.request <> decoder.request
  command.response <> Queue(decoder.response, 2)
  decoder.report := completion.report

  // A refused operation passes the unit by and takes its turn in the completion stage only.
  private val refused = started.bits.ticket.refused
  operation.valid := started.valid && !refused && completion.ticket.ready
  operation.bits := started.bits.operation
  completion.ticket.valid := started.valid && (refused || operation.ready)
  completion.ticket.bits := started.bits.ticket
  started.ready := completion.ticket.ready && (refused || operation.ready)
  completion.result <> result
  memory <> completion.memory
  extension.zip(decoder.extension).foreach { case (to, from) => to <> from }
  decoder.written.zip(written).foreach { case (to, from) => to := from }
  decoder.taken.foreach(_ := started.fire)

  idle := decoder.quiet && !started.valid && completion.idle && !command.response.valid
}
