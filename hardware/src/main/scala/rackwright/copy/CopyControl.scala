package rackwright.copy

import chisel3._
import chisel3.util._

import rackwright.access.WriterRange
import rackwright.operation.{Operation, OperationResult}
import rackwright.port.Status
import rackwright.stream.{ByteChunk, ByteStream, StreamRange, WriterResult}

/** Runs one copy at a time: starts both ends, moves bytes, combines the two results. */
class CopyControl(bytes: Int) extends Module {
  import CopyControl.State

  /** From the router, and back. */
  val operation = IO(Flipped(Decoupled(new Operation(Seq.empty))))
  val result = IO(Decoupled(new OperationResult))

  /** To and from the loader. */
  val range = IO(Decoupled(new StreamRange))
  val stop = IO(Output(Bool()))
  val stream = IO(Flipped(new ByteStream(bytes)))

  /** To and from the writer. */
  val start = IO(Decoupled(new WriterRange))
  val chunk = IO(Decoupled(new ByteChunk(bytes)))
  val finish = IO(Output(Bool()))
  val overflow = IO(Input(Bool()))
  val written = IO(Flipped(Decoupled(new WriterResult)))

  /** The input has no bytes to move. */
  val inputStall = IO(Output(Bool()))

  /** The output cannot accept the available bytes. */
  val outputStall = IO(Output(Bool()))

  /** Bytes moved in this cycle. */
  val moved = IO(Output(UInt(log2Ceil(bytes + 1).W)))

  private val state = RegInit(State.idle)
  private val consumed = Reg(UInt(64.W))
  private val readFault = Reg(Bool())

  operation.ready := state === State.idle && range.ready && start.ready
  range.valid := operation.fire
  range.bits := operation.bits.source
  start.valid := operation.fire
  start.bits.address := operation.bits.destination
  start.bits.capacity := operation.bits.capacity

  private val moving = state === State.moving
  private val ended = stream.available === 0.U && (stream.last || stream.fault)
  chunk.valid := moving && stream.available =/= 0.U
  chunk.bits.data := stream.data
  chunk.bits.count := stream.available
  stream.consume := Mux(chunk.fire, stream.available, 0.U)
  moved := stream.consume
  inputStall := moving && stream.available === 0.U
  outputStall := chunk.valid && !chunk.ready

  stop := moving && (ended || overflow)
  finish := stop

  // After a fault or an overflow the loader still waits for responses; the source is in use until they have arrived.
  private val drained = range.ready
  written.ready := result.ready && drained
  result.valid := written.valid && drained
  result.bits.status := Mux(readFault, Status.accessFault, written.bits.status)
  result.bits.outputBytes := written.bits.written
  result.bits.inputOffset := Mux(written.bits.status === Status.outputFull, written.bits.written, consumed)

  when(operation.fire) {
    state := State.moving
    consumed := 0.U
    readFault := false.B
  }.elsewhen(moving) {
    consumed := consumed + stream.consume
    when(stop) {
      state := State.ending
      readFault := stream.fault && ended
    }
  }
  when(written.fire) { state := State.idle }
}

/** The states of a [[CopyControl]]. */
object CopyControl {

  /** `ending` waits for the writes to be answered. */
  object State extends ChiselEnum {
    val idle, moving, ending = Value
  }
}
