package rackwright.deflate

import chisel3._
import chisel3.util._

import rackwright.contract.Status
import rackwright.lz77.DecoderStart
import rackwright.memory.{Ranges, StreamRange}
import rackwright.rocc.{Operation, OperationResult}

/** Takes a decompressor through one operation after the other, and the LZ77 decoder through the streams of each.
  *
  * A stream begins when the one before has been written. An operation that ends early still writes what came before the
  * place where it ended, unless memory refused something. It is reported when nothing is outstanding.
  */
class DeflateDecompressorControl(params: DeflateDecompressorParams) extends Module {
  import DeflateDecompressorControl.State

  val operation = IO(Flipped(Decoupled(new Operation(params.settings))))
  val result = IO(Decoupled(new OperationResult))

  /** The input is opened; what is around the blocks. */
  val open = IO(Valid(new StreamRange))
  val format = IO(Output(UInt(Wrapper.bits.W)))
  val inputReady = IO(Input(Bool()))

  /** A stream wants to begin; it does with `decode`, and may make `room` bytes. */
  val stream = IO(Input(Bool()))
  val decode = IO(Valid(new DecoderStart(params.decoder)))
  val room = IO(Output(UInt(32.W)))

  /** The stream has been taken apart and is to be written out; its checksum is there. */
  val close = IO(Input(Bool()))
  val closed = IO(Output(Bool()))
  val hashed = IO(Input(Bool()))

  /** The whole input was taken apart; something is wrong; where, or where the end is. */
  val finished = IO(Input(Bool()))
  val failed = IO(Input(Bool()))
  val failure = IO(Input(UInt(Status.width.W)))
  val element = IO(Input(UInt(64.W)))

  /** Memory refused a fall-back read or a write. */
  val refused = IO(Input(Bool()))

  /** Everything but the decoder forgets what it does; the decoder does. */
  val stop = IO(Output(Bool()))
  val abandon = IO(Output(Bool()))

  /** To the decoder: no more segments of the stream come. */
  val finish = IO(Output(Bool()))

  /** The decoder has nothing more, the writer and the reader of the input are quiet. */
  val drained = IO(Input(Bool()))
  val writerQuiet = IO(Input(Bool()))
  val inputIdle = IO(Input(Bool()))

  /** Bytes of the stream made. */
  val made = IO(Input(UInt(32.W)))

  private val state = RegInit(State.idle)
  private val asked = Reg(new Operation(params.settings))
  private val status = Reg(UInt(Status.width.W))
  private val inputOffset = Reg(UInt(64.W))

  /** Bytes of the streams before, and whether a stream was begun. */
  private val before = Reg(UInt(64.W))
  private val begun = RegInit(false.B)

  /** Of the stream that was begun: `refused` may still speak of the operation before until then. */
  private val broken = refused && begun

  private val supported = params.supportsHistory(operation.bits) &&
    operation.bits.setting(params.format.name) <= Wrapper.gzip.U
  operation.ready := state === State.idle && inputReady
  private val startWraps = RegNext(
    Ranges.wraps(asked.destination, asked.capacity) || Ranges.wraps(asked.source.address, asked.source.length)
  )
  open.valid := state === State.checking && !startWraps
  open.bits := asked.source
  format := asked.setting(params.format.name)

  // A stream.
  private val capacityLeft = RegNext(asked.capacity - before)
  private val destination = RegNext(asked.destination + before)
  private val wide = (capacityLeft >> 32).orR

  /** A cycle late, as it is known late; nothing moves again before a begin. */
  private val quiet = RegNext(drained && writerQuiet, false.B)
  private val begins = state === State.running && stream && !begun && quiet && !failed && !broken &&
    RegNext(stream && !begun, false.B)
  decode.valid := begins
  decode.bits.destination := destination
  decode.bits.history := asked.setting(params.onChipHistory.name)
  room := Mux(wide, ~0.U(32.W), capacityLeft)
  when(begins) { begun := true.B }
  closed := state === State.running && begun && close && RegNext(close, false.B) && quiet && hashed
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

/** The states of a [[DeflateDecompressorControl]]. */
object DeflateDecompressorControl {

  /** `settling` and `checking` compare the ranges; `draining` waits for all that is outstanding. */
  object State extends ChiselEnum {
    val idle, settling, checking, running, draining, reporting = Value
  }
}
