package rackwright.ordered

import chisel3._
import chisel3.util._

import rackwright.access.WriterRange
import rackwright.operation.{Operation, OperationResult}
import rackwright.port.Status
import rackwright.stream.{ByteChunk, ByteStream, StreamRange, WriterResult}

/** Runs one operation at a time: passes queries on, writes their answers, and combines the statuses. */
class OrderedControl extends Module {
  private object State extends ChiselEnum {
    val idle, judge, settle, run, ending = Value
  }

  val operation = IO(Flipped(Decoupled(new Operation(OrderedSettings.all))))
  val result = IO(Decoupled(new OperationResult))

  /** The loader of queries and the writer of answers. */
  val range = IO(Decoupled(new StreamRange))
  val stop = IO(Output(Bool()))
  val stream = IO(Flipped(new ByteStream(Params.queryBytes)))
  val start = IO(Decoupled(new WriterRange))
  val chunk = IO(Decoupled(new ByteChunk(Params.queryBytes)))
  val finish = IO(Output(Bool()))
  val overflow = IO(Input(Bool()))
  val written = IO(Flipped(Decoupled(new WriterResult)))

  val tree = IO(Output(new Tree))
  val clear = IO(Output(Bool()))

  /** The cache is empty, if it was to be cleared. */
  val isReady = IO(Input(Bool()))
  val query = IO(Decoupled(new Query))
  val ended = IO(Flipped(Decoupled(new Ended)))
  val empty = IO(Input(Bool()))

  private val state = RegInit(State.idle)
  private val now = Reg(new Tree)
  private val version = Reg(UInt(OrderedSettings.version.width.W))
  private val isOther = Reg(Bool())
  private val problem = Reg(UInt(Status.width.W))
  private val answered = Reg(UInt(64.W))
  tree := now

  operation.ready := state === State.idle && range.ready && start.ready
  range.valid := operation.fire
  range.bits := operation.bits.source
  start.valid := operation.fire
  start.bits.address := operation.bits.destination
  start.bits.capacity := operation.bits.capacity
  private val next = OrderedSettings.tree(operation.bits)
  when(operation.fire) {
    now := next
    version := operation.bits.setting(OrderedSettings.version.name)
    isOther := version =/= operation.bits.setting(OrderedSettings.version.name) ||
      Cat(now.nodes, now.near.asUInt, now.wide.asUInt) =/= Cat(next.nodes, next.near.asUInt, next.wide.asUInt)
    problem := Status.ok
    answered := 0.U
    state := State.judge
  }

  // Nodes of another tree, or of other levels, may be in the cache.
  clear := state === State.judge && isOther
  when(state === State.judge) { state := State.settle }
  when(state === State.settle && isReady) {
    val fits = now.nodes(5, 0) === 0.U && now.has(now.root)
    state := Mux(fits, State.run, State.ending)
    when(!fits) { problem := Status.unsupported }
  }

  // Queries, until the first that cannot be answered.
  private val bytes = Params.queryBytes
  private val runs = state === State.run && problem === Status.ok && !overflow
  private val isWhole = stream.available === bytes.U
  query.valid := runs && isWhole
  query.bits.low := Cat(stream.data.take(8).reverse)
  query.bits.high := Cat(stream.data.drop(8).reverse)
  stream.consume := Mux(query.fire, bytes.U, 0.U)
  private val isLast = !isWhole && (stream.last || stream.fault)
  private val rest = Mux(stream.fault, Status.accessFault, Mux(stream.available === 0.U, Status.ok, Status.malformed))

  private val fails = ended.bits.status =/= Status.ok
  chunk.valid := ended.valid && runs && !fails
  chunk.bits.count := bytes.U
  private val words = Cat(ended.bits.answer.sum, ended.bits.answer.first, ended.bits.answer.count)
  chunk.bits.data := VecInit.tabulate(bytes)(i => words(8 * i + 7, 8 * i))
  ended.ready := !runs || fails || chunk.ready
  when(chunk.fire) { answered := answered + bytes.U }
  when(ended.fire && runs && fails) { problem := ended.bits.status }

  when(state === State.run && empty && (!runs || isLast)) {
    state := State.ending
    when(problem === Status.ok && !overflow) { problem := rest }
  }
  private val began = RegNext(state === State.ending, false.B)
  stop := state === State.ending && !began
  finish := stop

  // After an error, the loader still awaits responses of memory; the input remains in use until they have arrived.
  private val drained = range.ready && began
  written.ready := state === State.ending && result.ready && drained
  result.valid := state === State.ending && written.valid && drained
  result.bits.status := Mux(problem =/= Status.ok, problem, written.bits.status)
  result.bits.outputBytes := written.bits.written
  result.bits.inputOffset := answered
  when(result.fire) { state := State.idle }
}
