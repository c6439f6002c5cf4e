package rackwright.operation

import chisel3._
import chisel3.util._

import rackwright.port.{MemoryPort, MemoryPortParams, Status}

/** Ends operations in order: takes the result of each, has record and flag written, then counts it as completed.
  *
  * @param underWay
  *   number of operations that the unit may have started: two, so that it starts one while the previous one is being
  *   completed, or more.
  */
class CompletionStage(port: MemoryPortParams, underWay: Int) extends Module {

  /** One per operation, in the order of their starts. */
  val ticket = IO(Flipped(Decoupled(new CompletionTicket)))

  /** One per operation that was not refused. */
  val result = IO(Flipped(Decoupled(new OperationResult)))

  /** Writes of flags and records. */
  val memory = IO(new MemoryPort(port))

  /** The results of completed operations. */
  val report = IO(Output(new CompletionReport))

  /** No operation is between its start and its completion. */
  val idle = IO(Output(Bool()))

  private val refusal = Wire(new OperationResult)
  refusal.status := Status.accessFault
  refusal.outputBytes := 0.U
  refusal.inputOffset := 0.U

  private val tickets = Queue(ticket, underWay)
  private val writer = Module(new CompletionWriter(port))
  private val ended = Mux(tickets.bits.refused, refusal, result.bits)

  private val known = tickets.valid && (tickets.bits.refused || result.valid)
  writer.completion.valid := known
  writer.completion.bits.flag := tickets.bits.flag
  writer.completion.bits.record := tickets.bits.record
  writer.completion.bits.status := ended.status
  writer.completion.bits.outputBytes := ended.outputBytes
  writer.completion.bits.inputOffset := ended.inputOffset
  memory <> writer.memory

  // The ticket and the result stay in place until their record and flag are written.
  private val done = writer.completion.fire
  tickets.ready := done
  result.ready := done && !tickets.bits.refused

  private val completed = RegInit(0.U(64.W))
  private val last = RegInit(0.U.asTypeOf(new OperationResult))
  when(done) {
    completed := completed + 1.U
    last := ended
    last.status := Mux(writer.faulted, Status.accessFault, ended.status)
  }
  report.completed := completed
  report.last := last
  idle := !tickets.valid
}
