package rackwright.store

import chisel3._
import chisel3.util._

import rackwright.access.WriterRange
import rackwright.operation.{Operation, OperationResult}
import rackwright.port.Status
import rackwright.stream.{StreamRange, WriterResult}

/** Runs one operation at a time: reads the header of the region, runs the request reader, and combines the statuses. */
class StoreControl(params: Params) extends Module {
  private object State extends ChiselEnum {
    val idle, fetch, derive, judge, flush, run, ending = Value
  }

  val operation = IO(Flipped(Decoupled(new Operation(StoreSettings.of(params)))))
  val result = IO(Decoupled(new OperationResult))

  /** The loader of requests and the writer of responses. */
  val range = IO(Decoupled(new StreamRange))
  val stop = IO(Output(Bool()))
  val start = IO(Decoupled(new WriterRange))
  val finish = IO(Output(Bool()))
  val written = IO(Flipped(Decoupled(new WriterResult)))

  /** Reads the first grain of the region. */
  val read = IO(Valid(UInt(Grain.placeBits.W)))
  val got = IO(Flipped(Valid(UInt((8 * Grain.bytes).W))))
  val clear = IO(Output(Bool()))
  val refused = IO(Input(Bool()))
  val region = IO(Output(new Region))

  /** A flush is pending: whether it is due is looked at before requests are read. */
  val flush = IO(Output(Bool()))
  val flushed = IO(Input(Bool()))

  /** Requests are read until they have ended and every response has been written. */
  val run = IO(Output(Bool()))
  val ended = IO(Input(Bool()))
  val status = IO(Input(UInt(Status.width.W)))
  val offset = IO(Input(UInt(64.W)))
  val empty = IO(Input(Bool()))
  val valueFault = IO(Input(Bool()))

  private val state = RegInit(State.idle)
  private val now = Reg(new Region)
  private val problem = Reg(UInt(Status.width.W))
  private val consumed = Reg(UInt(64.W))
  region := now

  operation.ready := state === State.idle && range.ready && start.ready
  range.valid := operation.fire
  range.bits := operation.bits.source
  start.valid := operation.fire
  start.bits.address := operation.bits.destination
  start.bits.capacity := operation.bits.capacity
  clear := operation.fire
  when(operation.fire) {
    now.base := operation.bits.setting(StoreSettings.region.name)
    problem := Status.ok
    consumed := 0.U
    state := State.fetch
  }

  private val data = Reg(UInt((8 * Grain.bytes).W))
  private val bucketBits = data(231, 224)
  read.valid := state === State.fetch && !got.valid
  read.bits := 0.U
  when(state === State.fetch && got.valid) {
    data := got.bits
    state := State.derive
  }
  private val isStore = Reg(Bool())
  private val flushes = Reg(Bool())
  when(state === State.derive) {
    for (i <- 0 until 2) now.hashKey(i) := data(64 * i + 127, 64 * i + 64)
    now.time := data(63, 32)
    now.total := data(223, 192)
    val buckets = UIntToOH(bucketBits, Region.mostBucketBits + 1)
    now.bucketMask := buckets - 1.U
    now.firstItem := Grain.table.U +& (buckets >> 3)
    flushes := data(8 * Grain.flushByte)
    isStore := data(31, 0) === Region.magic.U && now.base(5, 0) === 0.U &&
      bucketBits >= Region.leastBucketBits.U && bucketBits <= Region.mostBucketBits.U
    state := State.judge
  }
  when(state === State.judge) {
    val fits = isStore && now.firstItem <= now.total
    state := Mux(refused || !fits, State.ending, Mux(flushes, State.flush, State.run))
    when(refused) { problem := Status.accessFault }
      .elsewhen(!fits) { problem := Status.unsupported }
  }

  flush := state === State.flush
  when(flush && flushed) {
    state := Mux(refused, State.ending, State.run)
    when(refused) { problem := Status.accessFault }
  }

  run := state === State.run
  when(run && valueFault) { problem := Status.accessFault }
  when(run && ended && empty) {
    state := State.ending
    consumed := offset
    when(status =/= Status.ok) { problem := status }
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
  result.bits.inputOffset := consumed
  when(result.fire) { state := State.idle }
}
