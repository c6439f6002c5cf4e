package rackwright.compression

import chisel3._
import chisel3.util._

import rackwright.contract.Status
import rackwright.lz77.{EncoderJob, EncoderParams}
import rackwright.memory.{StreamRange, WriterRange, WriterResult}
import rackwright.rocc.{Operation, OperationResult, SettingValues}

/** Takes a compressor through one operation after the other: start, run, drain, report.
  *
  * An operation ends early when input can't be read, output can't be written or the destination is full. It is reported
  * when both streams are quiet, whichever way it ended.
  *
  * @param params
  *   what was built.
  * @param supported
  *   whether the format can do what an operation's settings ask for.
  * @param reach
  *   the furthest match that the format can write, where that is less than the encoder's history.
  */
class CompressorControl(params: CompressorParams, supported: Operation => Bool, reach: Option[Operation => UInt])
    extends Module {
  import CompressorControl.State

  val operation = IO(Flipped(Decoupled(new Operation(params.settings))))
  val result = IO(Decoupled(new OperationResult))

  /** Starts of the boxes, all in the same cycle. */
  val load = IO(Decoupled(new StreamRange))
  val write = IO(Decoupled(new WriterRange))
  val encode = IO(Decoupled(new EncoderJob))

  /** Settings of the running operation, from the cycle after its start on. */
  val settings = IO(Output(new SettingValues(params.settings)))

  /** The loader gives up its input. */
  val stop = IO(Output(Bool()))

  /** The encoder and the format's boxes forget everything: held from the end of an operation to the next start. */
  val clear = IO(Output(Bool()))

  /** The last byte has been given to the writer. */
  val finished = IO(Input(Bool()))

  /** Bytes taken from the loader in this cycle. */
  val consumed = IO(Input(UInt(log2Ceil(params.streamBytes + 1).W)))
  val unreadable = IO(Input(Bool()))
  val overflow = IO(Input(Bool()))
  val unwritable = IO(Input(Bool()))
  val loaderIdle = IO(Input(Bool()))

  /** To the writer: nothing more comes. */
  val finish = IO(Output(Bool()))
  val written = IO(Flipped(Decoupled(new WriterResult)))

  private val state = RegInit(State.idle)
  private val status = Reg(UInt(Status.width.W))
  private val outputBytes = Reg(UInt(64.W))
  private val inputOffset = Reg(UInt(64.W))

  /** Counted a cycle later: how much is consumed is known late, and an operation is reported later still. */
  private val consumedBefore = RegNext(Mux(state === State.running, consumed, 0.U), 0.U)

  private val asked = operation.bits
  private val maxOffset = asked.setting(params.maxOffset.name)
  private val hashLog2 = asked.setting(params.hashTableLog2.name)
  private val possible = (asked.source.length >> 32) === 0.U &&
    maxOffset =/= 0.U && maxOffset <= params.encoder.historyBytes.U &&
    hashLog2 >= EncoderParams.minHashLog2.U && hashLog2 <= params.encoder.hashLog2.U &&
    supported(asked)

  private val furthest =
    reach.map(most => Mux(maxOffset > most(asked), most(asked), maxOffset)).getOrElse(maxOffset)

  private val placeForAll = load.ready && write.ready && encode.ready
  private val begin = state === State.idle && operation.valid && possible && placeForAll
  private val refuse = state === State.idle && operation.valid && !possible
  operation.ready := begin || refuse
  load.valid := begin
  load.bits := asked.source
  write.valid := begin
  write.bits.address := asked.destination
  write.bits.capacity := asked.capacity
  encode.valid := begin
  encode.bits.length := asked.source.length(31, 0)
  encode.bits.maxOffset := furthest(16, 0)
  encode.bits.hashLog2 := hashLog2(3, 0)
  private val kept = RegEnable(asked.settings, encode.fire)
  settings := kept

  // Seen a cycle late, for an operation begins when the loader is ready, and that depends on `stop`.
  private val refused = RegNext(state === State.running && (unreadable || unwritable), false.B)
  private val failed = refused || RegNext(state === State.running && overflow, false.B)
  stop := failed
  clear := state === State.draining || state === State.reporting
  finish := state === State.draining
  written.ready := state === State.draining && loaderIdle

  result.valid := state === State.reporting
  result.bits.status := status
  result.bits.outputBytes := outputBytes
  result.bits.inputOffset := inputOffset

  inputOffset := inputOffset + consumedBefore
  when(refuse) {
    status := Status.unsupported
    outputBytes := 0.U
    inputOffset := 0.U
    state := State.reporting
  }
  when(begin) {
    status := Status.ok
    inputOffset := 0.U
    state := State.running
  }
  when(state === State.running) {
    when(failed) { status := Mux(refused, Status.accessFault, Status.outputFull) }
    when(failed || finished) { state := State.draining }
  }
  when(written.fire) {
    outputBytes := written.bits.written
    when(status === Status.ok) { status := written.bits.status }
    state := State.reporting
  }
  when(result.fire) { state := State.idle }
}

/** The states of a [[CompressorControl]]. */
object CompressorControl {

  /** `draining` waits until both streams are quiet. */
  object State extends ChiselEnum {
    val idle, running, draining, reporting = Value
  }
}
