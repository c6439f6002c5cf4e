package rackwright.operation

import chisel3._
import chisel3.util._

import rackwright.port.{CommandPort, MemoryPort, MemoryPortParams}

/** Converts commands to operations for a streaming unit and responds to queries about those that have ended.
  *
  * Mostly wires: [[CommandDecoder]] understands commands, a queue holds started operations, [[CompletionStage]] takes
  * the results and writes flags and records. README.md is the contract.
  *
  * @param opcode
  *   n of the custom-n this unit listens to; commands with another are taken and not obeyed.
  * @param settings
  *   the settings that software may change at run time.
  * @param queueEntries
  *   operations that wait for the unit.
  * @param port
  *   shape of the memory port for flags and records.
  * @param streaming
  *   whether more input may follow for an operation in progress.
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

  /** One result per operation, in order, offered when all writes of the operation have responses. */
  val result = IO(Flipped(Decoupled(new OperationResult)))

  /** Writes of flags and records. */
  val memory = IO(new MemoryPort(port))

  /** No operation is in progress, here or in the unit, and no response waits. */
  val idle = IO(Output(Bool()))

  /** More input for the operation in progress, if no other was started after it: taken when it can be used. Bytes that
    * it has written.
    */
  val extension = Option.when(streaming)(IO(Decoupled(new InputExtension)))
  val written = Option.when(streaming)(IO(Input(UInt(64.W))))

  private val decoder = Module(new CommandDecoder(opcode, settings, streaming))
  private val completion = Module(new CompletionStage(port, underWay))
  // The oldest is in a register, because units add and compare its values in the cycle in which they take it.
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
