package rackwright.drx

import chisel3._
import chisel3.util._

import rackwright.access.Ranges
import rackwright.operation.{Operation, OperationResult}
import rackwright.port.Status
import rackwright.stream.StreamRange

/** Runs one program at a time: loads and starts it, stops it when it fails or exceeds its time limit, and reports its
  * end.
  */
class DrxControl(params: Params) extends Module {
  import DrxControl.State

  /** Interface to the router. */
  val operation = IO(Flipped(Decoupled(new Operation(DrxSettings.all))))
  val result = IO(Decoupled(new OperationResult))

  /** Interface to the program loader. */
  val program = IO(Decoupled(new StreamRange))
  val loaded = IO(Flipped(Valid(new Bundle {
    val status = UInt(Status.width.W)
    val instructions = UInt(params.indexBits.W)
  })))

  /** Starts a program with this number of instructions and these ranges. */
  val begin = IO(Valid(UInt(params.indexBits.W)))
  val regions = IO(Output(Vec(Isa.regions, new StreamRange)))

  /** The program has ended or failed; its current instruction; the number of bytes that it stored. */
  val ended = IO(Input(Bool()))
  val failure = IO(Flipped(Valid(new Failure(params))))
  val at = IO(Input(UInt(params.indexBits.W)))
  val outputBytes = IO(Input(UInt(64.W)))

  /** Abandons the program; held until nothing is in flight. */
  val stop = IO(Output(Bool()))
  val quiet = IO(Input(Bool()))

  private val state = RegInit(State.idle)
  private val ranges = Reg(Vec(Isa.regions, new StreamRange))
  private val status = Reg(UInt(Status.width.W))
  private val index = Reg(UInt(params.indexBits.W))
  private val limit = Reg(UInt(64.W))
  private val cycles = Reg(UInt(64.W))
  private val stored = Reg(UInt(64.W))

  private val source = operation.bits
  operation.ready := state === State.idle && program.ready
  program.valid := operation.fire
  program.bits := source.source
  regions := ranges

  private val wraps = VecInit(ranges.tail.map(range => Ranges.wraps(range.address, range.length))).asUInt.orR
  private val late = cycles >= limit
  private val running = state === State.running
  begin.valid := state === State.loading && loaded.valid && loaded.bits.status === Status.ok && !wraps
  begin.bits := loaded.bits.instructions
  stop := state === State.stopping
  result.valid := state === State.ended
  result.bits.status := status
  result.bits.outputBytes := stored
  result.bits.inputOffset := index

  cycles := cycles + 1.U
  when(operation.fire) {
    state := State.loading
    status := Status.ok
    index := 0.U
    limit := source.setting(DrxSettings.cycleLimit)
    cycles := 0.U
    stored := 0.U
    ranges(0).address := source.destination
    ranges(0).length := source.capacity
    for (input <- 1 to DrxSettings.inputs) {
      ranges(input).address := source.setting(DrxSettings.address(input))
      ranges(input).length := source.setting(DrxSettings.bytes(input))
    }
  }
  when(state === State.loading && loaded.valid) {
    state := State.running
    when(!begin.valid) {
      state := State.ended
      status := Mux(loaded.bits.status === Status.ok, Status.accessFault, loaded.bits.status)
    }
  }
  when(running && (failure.valid || ended || late)) {
    state := State.stopping
    index := at
    when(failure.valid) {
      status := failure.bits.status
      index := failure.bits.index
    }.elsewhen(!ended) { status := Status.unsupported }
  }
  when(stop && quiet) {
    state := State.ended
    stored := outputBytes
  }
  when(result.fire) { state := State.idle }
}

/** The states of a [[DrxControl]]. */
object DrxControl {

  /** `stopping` waits until nothing is in flight; `ended` until the result is accepted. */
  object State extends ChiselEnum {
    val idle, loading, running, stopping, ended = Value
  }
}
