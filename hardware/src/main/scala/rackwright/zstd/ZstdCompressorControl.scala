package rackwright.zstd

import chisel3._
import chisel3.util._

import rackwright.contract.Status
import rackwright.lz77.{EncoderJob, EncoderParams}
import rackwright.memory.{Ranges, StreamRange, WriterRange, WriterResult}
import rackwright.rocc.{Operation, OperationResult}

/** What is to be known of a frame, from the cycle after its start on. */
class FrameOrder extends Bundle {

  /** Bytes of its content, and whether it has a checksum. */
  val length = UInt(32.W)
  val hashing = Bool()

  /** The number of its dictionary, or 0, and the offsets that it begins with. */
  val dictionaryId = UInt(32.W)
  val offsets = Vec(3, UInt(EncoderParams.distanceBits.W))
}

/** Takes a compressor through one operation after the other: start, run, drain, report.
  *
  * An operation ends early when input can't be read, output can't be written or the destination is full. It is reported
  * when both streams are quiet, whichever way it ended. With a dictionary the encoder is given the last bytes of that,
  * as many as the history holds, and the input behind them.
  *
  * @param params
  *   what was built.
  */
class ZstdCompressorControl(params: ZstdCompressorParams) extends Module {
  import ZstdCompressorControl.State

  val operation = IO(Flipped(Decoupled(new Operation(params.settings))))
  val result = IO(Decoupled(new OperationResult))

  /** Starts of the boxes, all in the same cycle. */
  val load = IO(Decoupled(new StreamRange))
  val write = IO(Decoupled(new WriterRange))
  val encode = IO(Decoupled(new EncoderJob(params.encoder.dictionary)))
  val frame = IO(Output(new FrameOrder))

  /** What comes from the loader is the dictionary. */
  val inDictionary = IO(Output(Bool()))

  /** The loader gives up its input. */
  val stop = IO(Output(Bool()))

  /** The boxes between loader and writer forget everything: held from the end of an operation to the next start. */
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
  private val consumedBefore = RegNext(Mux(state === State.running && !inDictionary, consumed, 0.U), 0.U)

  private val asked = operation.bits
  private val maxOffset = asked.setting(params.maxOffset.name)
  private val hashLog2 = asked.setting(params.hashTableLog2.name)
  private val supported = (asked.source.length >> 32) === 0.U &&
    maxOffset =/= 0.U && maxOffset <= params.encoder.historyBytes.U &&
    hashLog2 >= EncoderParams.minHashLog2.U && hashLog2 <= params.encoder.hashLog2.U &&
    !asked.setting(params.checksum.name)(1) && !asked.setting(params.dictionaryLength.name).andR &&
    !asked.setting(params.dictionaryId.name)(32) && !asked.setting(params.dictionaryOffsets.name)(48)

  // The dictionary: whole words of its end, as many as the history holds.
  private val dictionary = Wire(new StreamRange)
  dictionary.address := asked.setting(params.dictionaryAddress.name)
  dictionary.length := asked.setting(params.dictionaryLength.name)
  private val history = params.encoder.historyBytes
  private val words = RegNext(Mux(dictionary.length > history.U, (history / 8).U, dictionary.length >> 3))
  private val wordBytes = Cat(words, 0.U(3.W))
  private val dictionaryAt = RegNext((dictionary.address + dictionary.length) - wordBytes)
  private val total = RegNext(asked.source.length(31, 0) +& wordBytes)
  private val dictionaryWraps = RegNext(Ranges.wraps(dictionary.address, dictionary.length))
  private val hasDictionary = dictionary.length >= 8.U && asked.source.length =/= 0.U

  private val placeForAll = load.ready && write.ready && encode.ready
  private val ready = state === State.ready
  private val fits = !total(32) && !dictionaryWraps
  private val begin = placeForAll && Mux(
    ready,
    fits,
    state === State.idle && operation.valid && supported && !hasDictionary
  )
  private val refuse = Mux(ready, !fits, state === State.idle && operation.valid && !supported)
  operation.ready := begin || refuse
  private val source = RegEnable(asked.source, begin)
  private val follows = RegInit(false.B)
  load.valid := begin || (state === State.running && follows)
  load.bits := Mux(state === State.running, source, asked.source)
  when(ready) {
    load.bits.address := dictionaryAt
    load.bits.length := wordBytes
  }
  inDictionary := follows
  write.valid := begin
  write.bits.address := asked.destination
  write.bits.capacity := asked.capacity
  encode.valid := begin
  encode.bits.length := Mux(ready, total, asked.source.length(31, 0))
  encode.bits.before.foreach(_ := Mux(ready, words, 0.U))
  encode.bits.maxOffset := maxOffset(16, 0)
  encode.bits.hashLog2 := hashLog2(3, 0)
  private val order = Wire(new FrameOrder)
  order.length := asked.source.length
  order.hashing := asked.setting(params.checksum.name)(0)
  order.dictionaryId := asked.setting(params.dictionaryId.name)
  order.offsets := asked.setting(params.dictionaryOffsets.name)(47, 0).asTypeOf(order.offsets)
  frame := RegEnable(order, encode.fire)

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
  when(state === State.idle && operation.valid && supported && hasDictionary) { state := State.measure }
  when(state === State.measure) { state := State.ready }
  when(refuse) {
    status := Mux(ready && dictionaryWraps, Status.accessFault, Status.unsupported)
    outputBytes := 0.U
    inputOffset := 0.U
    state := State.reporting
  }
  when(begin) {
    status := Status.ok
    inputOffset := 0.U
    follows := ready
    state := State.running
  }
  when(state === State.running) {
    when(load.fire) { follows := false.B }
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

/** The states of a [[ZstdCompressorControl]]. */
object ZstdCompressorControl {

  /** `measure` works out which part of the dictionary is taken; `draining` waits until both streams are quiet. */
  object State extends ChiselEnum {
    val idle, measure, ready, running, draining, reporting = Value
  }
}
