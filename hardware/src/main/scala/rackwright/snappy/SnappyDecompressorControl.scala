package rackwright.snappy

import chisel3._
import chisel3.util._

import rackwright.access.Ranges
import rackwright.lz77.decode.DecoderStart
import rackwright.operation.{Operation, OperationResult}
import rackwright.port.Status
import rackwright.stream.StreamRange

/** Takes a decompressor through one operation after the other: preamble, body, drain, report.
  *
  * Nothing is written before the preamble says that the output fits. An operation that ends early still writes what
  * came before the place where it ended, unless memory refused something. It is reported when both streams are quiet.
  */
class SnappyDecompressorControl(params: SnappyDecompressorParams) extends Module {
  import SnappyDecompressorControl.State

  val operation = IO(Flipped(Decoupled(new Operation(params.settings))))
  val result = IO(Decoupled(new OperationResult))

  /** Starts of the boxes: the loader first, the decoder and the writer when the preamble is known. */
  val load = IO(Decoupled(new StreamRange))
  val decode = IO(Valid(new DecoderStart(params.decoder)))
  val declared = IO(Output(UInt(32.W)))
  val bodyBytes = IO(Output(UInt(64.W)))

  /** The preamble, given once, and whether the bytes behind it can't be read. */
  val preamble = IO(Flipped(Valid(new SnappyPreamble)))
  val inputFault = IO(Input(Bool()))

  /** With `decode`: bytes of the preamble. */
  val preambleBytes = IO(Output(UInt(3.W)))

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

  /** The decoder has nothing more, the loader and the writer are quiet. */
  val drained = IO(Input(Bool()))
  val loaderIdle = IO(Input(Bool()))
  val writerQuiet = IO(Input(Bool()))

  /** To the decoder: nothing more comes. */
  val finish = IO(Output(Bool()))

  /** Bytes of output made. */
  val made = IO(Input(UInt(32.W)))

  private val state = RegInit(State.idle)
  private val asked = Reg(new Operation(params.settings))
  private val status = Reg(UInt(Status.width.W))
  private val outputBytes = Reg(UInt(64.W))
  private val inputOffset = Reg(UInt(64.W))

  private val supported = params.supportsHistory(operation.bits)
  operation.ready := state === State.idle && (load.ready || !supported)
  load.valid := state === State.idle && operation.valid && supported
  load.bits := operation.bits.source

  // The preamble is held in registers, then compared with the destination, then obeyed.
  private val inPreamble = state === State.preamble
  private val held = RegEnable(preamble.bits, preamble.valid)
  private val heldFault = RegEnable(inputFault, preamble.valid)
  private val known = RegNext(preamble.valid && inPreamble, false.B)
  private val judged = RegNext(known, false.B)
  private val wraps = RegNext(!asked.limited && Ranges.wraps(asked.destination, held.length))
  private val tooLong = RegNext(asked.limited && asked.capacity < held.length)
  private val empty = asked.source.length === 0.U
  private val begin = inPreamble && judged && held.known && held.valid && !wraps && !tooLong
  preambleBytes := held.bytes
  declared := held.length
  bodyBytes := RegNext(asked.source.length - held.bytes)
  decode.valid := begin
  decode.bits.destination := asked.destination
  decode.bits.history := asked.setting(params.onChipHistory.name)

  body := state === State.body
  private val draining = state === State.draining
  abandon := (body || draining) && refused
  stop := (draining && status =/= Status.ok) || state === State.refusing
  finish := draining

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
    }.elsewhen(judged && !held.known) {
      end(State.refusing, Mux(heldFault, Status.accessFault, Status.malformed))
    }.elsewhen((judged && !held.valid) || empty) {
      end(State.refusing, Status.malformed)
    }.elsewhen(judged && wraps) {
      end(State.refusing, Status.accessFault)
    }.elsewhen(judged && tooLong) {
      end(State.refusing, Status.outputFull)
    }.elsewhen(unreadable) {
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
  when(draining && drained && loaderIdle && writerQuiet) {
    outputBytes := made
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
