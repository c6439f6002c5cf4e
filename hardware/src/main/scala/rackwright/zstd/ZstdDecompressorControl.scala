package rackwright.zstd

import chisel3._
import chisel3.util._

import rackwright.contract.Status
import rackwright.lz77.DecoderStart
import rackwright.memory.{Ranges, StreamRange}
import rackwright.rocc.{Operation, OperationResult}

/** Takes a decompressor through one operation after the other, and the LZ77 decoder through the frames of each.
  *
  * A frame begins when the one before has been written. An operation that ends early still writes what came before the
  * place where it ended, unless memory refused something. It is reported when nothing is outstanding.
  */
class ZstdDecompressorControl(params: ZstdDecompressorParams) extends Module {
  import ZstdDecompressorControl.State

  val operation = IO(Flipped(Decoupled(new Operation(params.settings))))
  val result = IO(Decoupled(new OperationResult))

  /** The input is opened; its dictionary. */
  val open = IO(Valid(new StreamRange))
  val dictionary = IO(Output(new StreamRange))
  val dictionaryKept = IO(Output(Bool()))
  val inputReady = IO(Input(Bool()))

  /** A frame wants to begin; it does with `decode`, and may make `room` bytes. */
  val frame = IO(Flipped(Decoupled(new FrameHeader)))
  val frameDictionary = IO(Input(new FrameDictionary))
  val decode = IO(Valid(new DecoderStart(params.decoder)))
  val room = IO(Output(UInt(32.W)))

  /** With `decode`, and from there on: the frame has a checksum. */
  val hashing = IO(Output(Bool()))
  val hashed = IO(Input(Bool()))

  /** The frame has been taken apart and is to be written out. */
  val close = IO(Input(Bool()))
  val closed = IO(Output(Bool()))

  /** The whole input was taken apart; something is wrong, where. */
  val finished = IO(Input(Bool()))
  val failed = IO(Input(Bool()))
  val failure = IO(Input(UInt(Status.width.W)))
  val element = IO(Input(UInt(64.W)))

  /** Memory refused a fall-back read or a write. */
  val refused = IO(Input(Bool()))

  /** Everything but the decoder forgets what it does; the decoder does. */
  val stop = IO(Output(Bool()))
  val abandon = IO(Output(Bool()))

  /** To the decoder: no more segments of the frame come. */
  val finish = IO(Output(Bool()))

  /** The decoder has nothing more, the writer and the readers of the input are quiet. */
  val drained = IO(Input(Bool()))
  val writerQuiet = IO(Input(Bool()))
  val inputIdle = IO(Input(Bool()))

  /** Bytes of the frame made. */
  val made = IO(Input(UInt(32.W)))

  private val state = RegInit(State.idle)
  private val asked = Reg(new Operation(params.settings))
  private val status = Reg(UInt(Status.width.W))
  private val inputOffset = Reg(UInt(64.W))

  /** Bytes of the frames before, and whether a frame was begun. */
  private val before = Reg(UInt(64.W))
  private val begun = Reg(Bool())
  private val checked = Reg(Bool())

  /** Of the frame that was begun: `refused` may still speak of the operation before until then. */
  private val broken = refused && begun

  private val dictionaryBytes = operation.bits.setting(params.dictionaryLength.name)
  private val supported = params.supportsHistory(operation.bits) &&
    !dictionaryBytes.andR && !operation.bits.setting(params.dictionaryKept.name)(1)
  operation.ready := state === State.idle && inputReady
  private val startWraps = RegNext(
    Ranges.wraps(asked.destination, asked.capacity) || Ranges.wraps(asked.source.address, asked.source.length) ||
      Ranges.wraps(dictionary.address, dictionary.length)
  )
  open.valid := state === State.checking && !startWraps
  open.bits := asked.source
  dictionary.address := asked.setting(params.dictionaryAddress.name)
  dictionary.length := asked.setting(params.dictionaryLength.name)
  dictionaryKept := asked.setting(params.dictionaryKept.name)(0)

  // A frame.
  private val capacityLeft = RegNext(asked.capacity - before)
  private val destination = RegNext(asked.destination + before)
  private val wide = (capacityLeft >> 32).orR

  /** A cycle late, as it is known late; nothing moves again before a begin. */
  private val quiet = RegNext(drained && writerQuiet, false.B)
  frame.ready := state === State.running && quiet && !failed && !broken && RegNext(frame.valid, false.B)
  decode.valid := frame.fire
  decode.bits.destination := destination
  decode.bits.history := asked.setting(params.onChipHistory.name)
  decode.bits.dictionary.foreach { before =>
    before.address := frameDictionary.content
    before.bytes := frameDictionary.contentBytes
  }
  room := Mux(wide, ~0.U(32.W), capacityLeft)
  hashing := Mux(frame.fire, frame.bits.checksum, checked)
  when(frame.fire) {
    checked := frame.bits.checksum
    begun := true.B
  }
  closed := state === State.running && close && RegNext(close, false.B) && quiet && (!checked || hashed)
  when(closed) {
    before := before + made
    begun := false.B
  }

  private val draining = state === State.draining
  stop := draining
  abandon := (state === State.running || draining) && broken
  finish := close || (draining && begun)

  result.valid := state === State.reporting
  result.bits.status := status
  result.bits.outputBytes := before
  result.bits.inputOffset := inputOffset

  private def end(why: UInt): Unit = {
    status := why
    state := State.draining
  }

  when(operation.fire) {
    asked := operation.bits
    before := 0.U
    begun := false.B
    checked := false.B
    inputOffset := 0.U
    status := Status.unsupported
    state := Mux(supported, State.settling, State.reporting)
  }
  when(state === State.settling) { state := State.checking }
  when(state === State.checking) {
    state := State.running
    when(startWraps) {
      status := Status.accessFault
      state := State.reporting
    }
  }
  when(state === State.running) {
    inputOffset := element
    when(broken) {
      end(Status.accessFault)
    }.elsewhen(failed) {
      // More than fits in what a decoder counts is not for this unit.
      end(Mux(failure === Status.outputFull && wide, Status.unsupported, failure))
    }.elsewhen(finished) {
      end(Status.ok)
      inputOffset := asked.source.length
    }
  }
  private val settled = RegNext(draining, false.B) && RegNext(RegNext(draining, false.B), false.B)
  when(draining && broken) { status := Status.accessFault }
  when(draining && settled && quiet && inputIdle) {
    when(begun) { before := before + made }
    state := State.reporting
  }
  when(result.fire) { state := State.idle }
}

/** The states of a [[ZstdDecompressorControl]]. */
object ZstdDecompressorControl {

  /** `settling` and `checking` compare the ranges; `draining` waits for all that is outstanding. */
  object State extends ChiselEnum {
    val idle, settling, checking, running, draining, reporting = Value
  }
}
