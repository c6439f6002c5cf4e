package rackwright.snappy

import chisel3._
import chisel3.util._

import rackwright.contract.Status
import rackwright.lz77.{DecoderParams, DecoderStart}
import rackwright.memory.{Ranges, StreamRange, WriterRange, WriterResult}
import rackwright.rocc.{Operation, OperationResult}

/** Takes a decompressor through one operation after the other: preamble, body, drain, report.
  *
  * Nothing is written before the preamble says that the output fits. An operation that ends early still writes what
  * came before the place where it ended, unless memory refused something. It is reported when both streams are quiet.
  */
class SnappyDecompressorControl(params: SnappyDecompressorParams) extends Module {
  import SnappyDecompressorControl.State

  val operation = IO(Flipped(Decoupled(new Operation(params.settings))))
  val result = IO(Decoupled(new OperationResult))

  /** Starts of the boxes: the loader first, the others together when the preamble is known. */
  val load = IO(Decoupled(new StreamRange))
  val write = IO(Decoupled(new WriterRange))
  val decode = IO(Valid(new DecoderStart(params.decoder)))
  val declared = IO(Output(UInt(32.W)))
  val bodyBytes = IO(Output(UInt(64.W)))

  /** The preamble at the first byte offered by the loader, and the end of what it offers. */
  val preamble = IO(Input(new SnappyPreamble))
  val inputEnds = IO(Input(Bool()))
  val inputFault = IO(Input(Bool()))
  val consume = IO(Output(UInt(3.W)))

  /** The body is decoded; how it goes. */
  val body = IO(Output(Bool()))
  val finished = IO(Input(Bool()))
  val malformed = IO(Input(Bool()))
  val unreadable = IO(Input(Bool()))
  val elementLeft = IO(Input(UInt(64.W)))

  /** Memory refused a fall-back read or a write. */
  val refused = IO(Input(Bool()))

  /** The loader gives up its input; the decoder gives up what it holds. */
  val stop = IO(Output(Bool()))
  val abandon = IO(Output(Bool()))

  /** The decoder and the loader are quiet. */
  val drained = IO(Input(Bool()))
  val loaderIdle = IO(Input(Bool()))

  /** To the writer: nothing more comes. */
  val finish = IO(Output(Bool()))
  val written = IO(Flipped(Decoupled(new WriterResult)))

  private val state = RegInit(State.idle)
  private val asked = Reg(new Operation(params.settings))
  private val status = Reg(UInt(Status.width.W))
  private val outputBytes = Reg(UInt(64.W))
  private val inputOffset = Reg(UInt(64.W))

  private val history = operation.bits.setting(params.onChipHistory.name)
  private val supported = history >= DecoderParams.leastHistory.U && history <= params.decoder.historyBytes.U
  operation.ready := state === State.idle && (load.ready || !supported)
  load.valid := state === State.idle && operation.valid && supported
  load.bits := operation.bits.source

  private val inPreamble = state === State.preamble
  private val wraps = !asked.limited && Ranges.wraps(asked.destination, preamble.length)
  private val tooLong = asked.limited && asked.capacity < preamble.length
  private val begin = inPreamble && preamble.known && preamble.valid && !wraps && !tooLong && write.ready
  consume := Mux(begin, preamble.bytes, 0.U)
  declared := preamble.length
  bodyBytes := asked.source.length - preamble.bytes
  write.valid := begin
  write.bits.address := asked.destination
  write.bits.capacity := preamble.length
  decode.valid := begin
  decode.bits.destination := asked.destination
  decode.bits.history := asked.setting(params.onChipHistory.name)

  body := state === State.body
  private val draining = state === State.draining
  abandon := (body || draining) && refused
  stop := (draining && status =/= Status.ok) || state === State.refusing
  finish := draining && drained
  written.ready := draining && loaderIdle

  result.valid := state === State.reporting
  result.bits.status := status
  result.bits.outputBytes := outputBytes
  result.bits.inputOffset := inputOffset

  private def end(next: State.Type, why: UInt): Unit = {
    status := why
    state := next
  }

  when(operation.fire) {
    asked := operation.bits
    outputBytes := 0.U
    inputOffset := 0.U
    status := Status.unsupported
    state := Mux(supported, State.preamble, State.reporting)
  }
  when(inPreamble) {
    when(begin) {
      state := State.body
    }.elsewhen(preamble.known && !preamble.valid) {
      end(State.refusing, Status.malformed)
    }.elsewhen(preamble.known && wraps) {
      end(State.refusing, Status.accessFault)
    }.elsewhen(preamble.known && tooLong) {
      end(State.refusing, Status.outputFull)
    }.elsewhen(!preamble.known && inputEnds) {
      end(State.refusing, Status.malformed)
    }.elsewhen(!preamble.known && inputFault) {
      end(State.refusing, Status.accessFault)
    }
  }
  when(body) {
    inputOffset := asked.source.length - elementLeft
    when(refused || unreadable) {
      end(State.draining, Status.accessFault)
    }.elsewhen(malformed) {
      end(State.draining, Status.malformed)
    }.elsewhen(finished) {
      end(State.draining, Status.ok)
    }
  }
  when(draining && refused) { status := Status.accessFault }
  when(written.fire) {
    outputBytes := written.bits.written
    state := State.reporting
  }
  when(state === State.refusing && loaderIdle) { state := State.reporting }
  when(result.fire) { state := State.idle }
}

/** The states of a [[SnappyDecompressorControl]]. */
object SnappyDecompressorControl {

  /** `refusing` waits for the loader after a preamble that can't be obeyed, `draining` for both streams after a body.
    */
  object State extends ChiselEnum {
    val idle, preamble, body, draining, refusing, reporting = Value
  }
}
