package rackwright.compression

import chisel3._
import chisel3.util._

import rackwright.access.WriterRange
import rackwright.lz77.encode.{EncoderJob, EncoderParams}
import rackwright.operation.{Operation, OperationResult, SettingValues}
import rackwright.port.Status
import rackwright.stream.{StreamRange, WriterResult}

/** Takes a compressor through one operation after the other: start, run, drain, report.
  *
  * An operation ends early when input can't be read, output can't be written or the destination is full. Its end is
  * reported when both streams are quiet, for any result. With a dictionary, the encoder receives its end, followed by
  * the input.
  *
  * @param params
  *   what was built.
  * @param supported
  *   whether the format supports an operation's settings.
  * @param reach
  *   the maximum distance of matches in the format, if it is less than the encoder's history.
  */
class CompressorControl(params: CompressorParams, supported: Operation => Bool, reach: Option[Operation => UInt])
    extends Module {
  import CompressorControl.State

  val operation = IO(Flipped(Decoupled(new Operation(params.settings))))
  val result = IO(Decoupled(new OperationResult))

  /** Starts of the boxes, all in the same cycle. */
  val load = IO(Decoupled(new StreamRange))
  val write = IO(Decoupled(new WriterRange))
  val encode = IO(Decoupled(new EncoderJob(params.encoder.dictionary)))

  /** Settings of the running operation, from the cycle after its start on. */
  val settings = IO(Output(new SettingValues(params.settings)))

  /** The loader's bytes belong to the dictionary. */
  val inDictionary = IO(Output(Bool()))

  /** The loader aborts its input. */
  val stop = IO(Output(Bool()))

  /** The encoder and the format's boxes are reset: held from the end of an operation to the next start. */
  val clear = IO(Output(Bool()))

  /** The last byte has been passed to the writer. */
  val finished = IO(Input(Bool()))

  /** Bytes taken from the loader in this cycle. */
  val consumed = IO(Input(UInt(log2Ceil(params.streamBytes + 1).W)))
  val unreadable = IO(Input(Bool()))
  val overflow = IO(Input(Bool()))
  val unwritable = IO(Input(Bool()))
  val loaderIdle = IO(Input(Bool()))

  /** An operation that may request more input is in progress. */
  val running = Option.when(params.streaming)(IO(Output(Bool())))

  /** To the writer: there are no further bytes. */
  val finish = IO(Output(Bool()))
  val written = IO(Flipped(Decoupled(new WriterResult)))

  private val state = RegInit(State.idle)
  private val status = Reg(UInt(Status.width.W))
  private val outputBytes = Reg(UInt(64.W))
  private val inputOffset = Reg(UInt(64.W))

  /** Counted a cycle later: the number of consumed bytes is known late, and an operation is reported even later. */
  private val consumedBefore = RegNext(Mux(state === State.running && !inDictionary, consumed, 0.U), 0.U)

  private val asked = operation.bits
  private val maxOffset = asked.setting(params.maxOffset.name)
  private val hashLog2 = asked.setting(params.hashTableLog2.name)
  private val possible = (asked.source.length >> 32) === 0.U &&
    maxOffset =/= 0.U && maxOffset <= params.encoder.historyBytes.U &&
    hashLog2 >= EncoderParams.minHashLog2.U && hashLog2 <= params.encoder.hashLog2.U &&
    supported(asked) && params.supportsInput(asked)

  private val furthest =
    reach.map(most => Mux(maxOffset > most(asked), most(asked), maxOffset)).getOrElse(maxOffset)

  private val placeForAll = load.ready && write.ready && encode.ready
  private val dictionary = Wire(new DictionaryPart)
  private val fits = !dictionary.present || (!dictionary.total(32) && !dictionary.wraps && !params.inPieces(asked))
  private val begin =
    state === State.idle && operation.valid && possible && dictionary.settled && fits && placeForAll
  private val refuse = state === State.idle && operation.valid && (!possible || (dictionary.settled && !fits))
  operation.ready := begin || refuse
  measure()

  // The dictionary is loaded first; the input follows.
  private val follows = params.dictionary.map(_ => RegInit(false.B))
  private val source = RegEnable(asked.source, begin)
  inDictionary := follows.getOrElse(false.B)
  load.valid := begin || (state === State.running && inDictionary)
  load.bits := Mux(inDictionary, source, Mux(dictionary.present, dictionary.range, asked.source))
  follows.foreach { input =>
    when(begin) { input := dictionary.present }.elsewhen(load.fire || clear) { input := false.B }
  }
  write.valid := begin
  write.bits.address := asked.destination
  write.bits.capacity := asked.capacity
  encode.valid := begin
  encode.bits.length := Mux(dictionary.present, dictionary.total(31, 0), asked.source.length(31, 0))
  encode.bits.before.foreach(_ := Mux(dictionary.present, dictionary.words, 0.U))
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

  running.foreach(_ := state === State.running)
  result.valid := state === State.reporting
  result.bits.status := status
  result.bits.outputBytes := outputBytes
  result.bits.inputOffset := inputOffset

  inputOffset := inputOffset + consumedBefore
  when(refuse) {
    status := Mux(possible && dictionary.present && dictionary.wraps, Status.accessFault, Status.unsupported)
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

  /** The properties of the operation's dictionary. */
  private def measure(): Unit = params.dictionary match {
    case Some(place) =>
      val module = Module(new DictionaryMeasure(params, place))
      module.operation.valid := operation.valid
      module.operation.bits := asked
      module.taken := operation.ready
      dictionary := module.part
    case None =>
      dictionary := 0.U.asTypeOf(dictionary)
      dictionary.settled := true.B
  }
}

/** The states of a [[CompressorControl]]. */
object CompressorControl {

  /** `draining` waits until both streams are quiet. */
  object State extends ChiselEnum {
    val idle, running, draining, reporting = Value
  }
}
