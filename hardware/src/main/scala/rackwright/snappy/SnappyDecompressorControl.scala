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
  * No output is written before the preamble shows that it fits. An operation that ends early still writes the output
  * before the position of its end, unless memory refused an access. It is reported when both streams are quiet.
  *
  * An operation whose input ended well needs neither loader nor elements any more: while it drains, the preamble of the
  * next one is read. Behind an operation that ended early, the next one waits until it is over.
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

  /** The preamble, sent once, and whether the bytes after it cannot be read. */
  val preamble = IO(Flipped(Valid(new SnappyPreamble)))
  val inputFault = IO(Input(Bool()))

  /** With `decode`: bytes of the preamble. */
  val preambleBytes = IO(Output(UInt(3.W)))

  /** The body is being decoded; its state. */
  val body = IO(Output(Bool()))
  val finished = IO(Input(Bool()))
  val malformed = IO(Input(Bool()))
  val unreadable = IO(Input(Bool()))
  val elementLeft = IO(Input(UInt(64.W)))

  /** Memory refused a fall-back read or a write. */
  val refused = IO(Input(Bool()))

  /** The loader aborts its input; the decoder drops its contents. */
  val stop = IO(Output(Bool()))
  val abandon = IO(Output(Bool()))

  /** The decoder has nothing more, the loader and the writer are quiet; all lines written have been counted. */
  val drained = IO(Input(Bool()))
  val loaderIdle = IO(Input(Bool()))
  val writerQuiet = IO(Input(Bool()))
  val counted = IO(Input(Bool()))

  /** To the decoder: there are no further bytes. */
  val finish = IO(Output(Bool()))

  /** Bytes of output produced so far. */
  val made = IO(Input(UInt(32.W)))

  private val state = RegInit(State.idle)
  private val asked = Reg(new Operation(params.settings))

  /** Why nothing is done of `asked`. */
  private val refusal = Reg(UInt(Status.width.W))

  /** The operation before `asked`, or itself, is drained: how it ended, and whether it left input behind. */
  private val draining = RegInit(false.B)
  private val status = Reg(UInt(Status.width.W))
  private val inputOffset = Reg(UInt(64.W))
  private val cut = RegInit(false.B)

  private val supported = params.supportsHistory(operation.bits)
  private val accepts = state === State.idle && !(draining && cut)
  operation.ready := accepts && (load.ready || !supported)
  load.valid := accepts && operation.valid && supported
  load.bits := operation.bits.source

  // The preamble is held in registers, then compared with the destination, then obeyed.
  private val inPreamble = state === State.preamble
  private val held = RegEnable(preamble.bits, preamble.valid)
  private val heldFault = RegEnable(inputFault, preamble.valid)
  private val known = RegNext(preamble.valid && inPreamble, false.B)
  private val judged = RegInit(false.B)
  when(known) { judged := true.B }
  private val wraps = RegNext(!asked.limited && Ranges.wraps(asked.destination, held.length))
  private val tooLong = RegNext(asked.limited && asked.capacity < held.length)
  private val empty = asked.source.length === 0.U
  private val right = inPreamble && judged && held.known && held.valid && !wraps && !tooLong
  private val begin = right && !draining && counted
  preambleBytes := held.bytes
  declared := held.length
  bodyBytes := RegNext(asked.source.length - held.bytes)
  decode.valid := begin
  decode.bits.destination := asked.destination
  decode.bits.history := asked.setting(params.onChipHistory.name)

  body := state === State.body
  abandon := (body || draining) && refused
  stop := (draining && cut) || state === State.refusing
  finish := draining

  // What ended well is reported first, what is refused behind it has waited.
  private val drains = draining && drained && writerQuiet && (!cut || loaderIdle)
  private val refuses = state === State.refusing && loaderIdle && !draining
  private val ended = Wire(Decoupled(new OperationResult))
  ended.valid := drains || refuses
  ended.bits.status := Mux(draining, Mux(refused, Status.accessFault, status), refusal)
  ended.bits.outputBytes := Mux(draining, made, 0.U)
  ended.bits.inputOffset := Mux(draining, inputOffset, 0.U)
  result <> Queue(ended, 1)

  private def refuse(why: UInt): Unit = {
    refusal := why
    state := State.refusing
  }
  private def drain(why: UInt): Unit = {
    draining := true.B
    status := why
    cut := why =/= Status.ok
    state := State.idle
  }

  when(operation.fire) {
    asked := operation.bits
    judged := false.B
    refusal := Status.unsupported
    state := Mux(supported, State.preamble, State.refusing)
  }
  when(inPreamble) {
    when(begin) {
      state := State.body
    }.elsewhen(judged && !held.known) {
      refuse(Mux(heldFault, Status.accessFault, Status.malformed))
    }.elsewhen((judged && !held.valid) || empty) {
      refuse(Status.malformed)
    }.elsewhen(judged && wraps) {
      refuse(Status.accessFault)
    }.elsewhen(judged && tooLong) {
      refuse(Status.outputFull)
    }.elsewhen(unreadable) {
      refuse(Status.accessFault)
    }
  }
  when(refuses && ended.ready) { state := State.idle }
  when(drains && ended.ready) { draining := false.B }
  when(body) {
    inputOffset := asked.source.length - elementLeft
    when(refused || unreadable) {
      drain(Status.accessFault)
    }.elsewhen(malformed) {
      drain(Status.malformed)
    }.elsewhen(finished) {
      drain(Status.ok)
    }
  }
}

/** The states of a [[SnappyDecompressorControl]]. */
object SnappyDecompressorControl {

  /** `refusing` waits for the loader after a preamble that can't be obeyed, and for what is drained before it. */
  object State extends ChiselEnum {
    val idle, preamble, body, refusing = Value
  }
}
