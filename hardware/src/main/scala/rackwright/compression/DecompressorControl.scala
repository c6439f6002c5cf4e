package rackwright.compression

import chisel3._
import chisel3.util._

import rackwright.access.Ranges
import rackwright.lz77.decode.{DecoderDictionary, DecoderStart}
import rackwright.operation.{InputExtension, Operation, OperationResult, SettingValues}
import rackwright.port.Status
import rackwright.stream.StreamRange

/** Takes a decompressor through one operation after the other, and the LZ77 decoder through the parts of each.
  *
  * A part begins when the one before has been written. An operation that ends early still writes the output before the
  * position of its end, unless memory refused an access. Its end is reported when no request is outstanding.
  *
  * @param params
  *   what was built.
  * @param supported
  *   whether the format supports an operation's settings.
  * @param dictionary
  *   the dictionary of an operation, if the format has dictionaries.
  */
class DecompressorControl(
    params: DecompressorParams,
    supported: Operation => Bool,
    dictionary: Option[Operation => StreamRange]
) extends Module {
  import DecompressorControl.State

  val operation = IO(Flipped(Decoupled(new Operation(params.settings))))
  val result = IO(Decoupled(new OperationResult))

  /** The input is opened; the settings, from then on. */
  val open = IO(Valid(new StreamRange))
  val settings = IO(Output(new SettingValues(params.settings)))
  val limited = IO(Output(Bool()))
  val inputReady = IO(Input(Bool()))

  /** A part is ready to start; it starts with `decode`, and may produce `room` bytes. */
  val begin = IO(Input(Bool()))
  val before = Option.when(params.decoder.dictionary)(IO(Input(new DecoderDictionary(params.decoder))))
  val decode = IO(Valid(new DecoderStart(params.decoder)))
  val room = IO(Output(UInt(32.W)))

  /** The part has been parsed and is to be written; its checksum is ready. */
  val close = IO(Input(Bool()))
  val closed = IO(Output(Bool()))
  val hashed = IO(Input(Bool()))

  /** The whole input was parsed; an error; its position, or that of the end. */
  val finished = IO(Input(Bool()))
  val failed = IO(Input(Bool()))
  val failure = IO(Input(UInt(Status.width.W)))
  val element = IO(Input(UInt(64.W)))

  /** Memory refused a fall-back read or a write. */
  val refused = IO(Input(Bool()))

  /** All parts but the decoder drop their state; the decoder does. */
  val stop = IO(Output(Bool()))
  val abandon = IO(Output(Bool()))

  /** To the decoder: there are no further segments of the part. */
  val finish = IO(Output(Bool()))

  /** The decoder is empty, the writer and the readers of the input are quiet. */
  val drained = IO(Input(Bool()))
  val writerQuiet = IO(Input(Bool()))
  val inputIdle = IO(Input(Bool()))

  /** Bytes of the part produced so far. */
  val made = IO(Input(UInt(32.W)))

  /** More of the input; its new end, for its readers, which takes a while. Lines of the part that memory has, and the
    * resulting bytes of the operation.
    */
  val extension = Option.when(params.streaming)(IO(Flipped(Decoupled(new InputExtension))))
  val extend = Option.when(params.streaming)(IO(Valid(new InputEnd)))
  val extending = Option.when(params.streaming)(IO(Input(Bool())))
  val lines = Option.when(params.streaming)(IO(Input(UInt(28.W))))
  val inMemory = Option.when(params.streaming)(IO(Output(UInt(64.W))))

  private val state = RegInit(State.idle)
  private val asked = Reg(new Operation(params.settings))
  private val status = Reg(UInt(Status.width.W))
  private val inputOffset = Reg(UInt(64.W))

  /** Bytes of earlier parts, and whether a part has started. */
  private val written = Reg(UInt(64.W))
  private val begun = RegInit(false.B)

  /** For the part that has started: `refused` may still refer to the previous operation until then. */
  private val broken = refused && begun

  private val possible = params.supportsHistory(operation.bits) && supported(operation.bits) &&
    params.supportsInput(operation.bits) && (!params.inPieces(operation.bits) || withoutDictionary(operation.bits))
  operation.ready := state === State.idle && inputReady
  private def wraps(range: StreamRange): Bool = Ranges.wraps(range.address, range.length)
  private val startWraps = RegNext(
    Ranges.wraps(asked.destination, asked.capacity) || wraps(asked.source) ||
      dictionary.fold(false.B)(range => wraps(range(asked)))
  )
  open.valid := state === State.checking && !startWraps
  open.bits := asked.source
  settings := asked.settings
  limited := asked.limited

  // A part.
  private val capacityLeft = RegNext(asked.capacity - written)
  private val destination = RegNext(asked.destination + written)
  private val wide = (capacityLeft >> 32).orR

  /** A cycle late, because it is known late; there is no activity before the next start. */
  private val quiet = RegNext(drained && writerQuiet, false.B)
  private val wants = begin && !begun
  private val begins = state === State.running && wants && quiet && !failed && !broken && RegNext(wants, false.B)
  decode.valid := begins
  decode.bits.destination := destination
  decode.bits.history := asked.setting(params.onChipHistory.name)
  decode.bits.dictionary.zip(before).foreach { case (to, from) => to := from }
  room := Mux(wide, ~0.U(32.W), capacityLeft)
  when(begins) { begun := true.B }
  closed := state === State.running && begun && close && RegNext(close, false.B) && quiet && hashed
  when(closed) {
    written := written + made
    begun := false.B
  }

  private val draining = state === State.draining
  stop := draining
  abandon := (state === State.running || draining) && broken
  finish := close || (draining && begun)

  result.valid := state === State.reporting
  result.bits.status := status
  result.bits.outputBytes := written
  result.bits.inputOffset := inputOffset

  private def end(why: UInt): Unit = {
    status := why
    state := State.draining
  }

  when(operation.fire) {
    asked := operation.bits
    written := 0.U
    begun := false.B
    inputOffset := 0.U
    status := Status.unsupported
    state := Mux(possible, State.settling, State.reporting)
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
      // More bytes than a decoder can count are not supported by this unit.
      end(Mux(failure === Status.outputFull && wide, Status.unsupported, failure))
    }.elsewhen(finished) {
      end(Status.ok)
    }
  }
  private val settled = RegNext(draining, false.B) && RegNext(RegNext(draining, false.B), false.B)
  when(draining && broken) { status := Status.accessFault }
  when(draining && settled && quiet && inputIdle) {
    when(begun) { written := written + made }
    state := State.reporting
  }
  when(result.fire) { state := State.idle }
  extension.foreach(lengthen)
  inMemory.foreach(report)

  /** Whether there is no dictionary, which would be read between pieces of the input. */
  private def withoutDictionary(operation: Operation): Bool =
    dictionary.fold(true.B)(range => range(operation).length === 0.U)

  /** Extends the input while an operation in progress expects more. */
  private def lengthen(extension: DecoupledIO[InputExtension]): Unit = {
    val more = RegInit(false.B)
    when(operation.fire) { more := params.inPieces(operation.bits) }
    val added = RegNext(extension.fire, false.B)
    val judged = RegNext(added, false.B)
    val known = RegNext(judged, false.B)
    val running = state === State.running
    extension.ready := running && more && !added && !judged && !known && !extending.get && RegNext(running, false.B)
    val last = RegEnable(extension.bits.last, extension.fire)
    val length = RegEnable(asked.source.length +& extension.bits.bytes, extension.fire)
    val beyond = RegNext(length(64) || Ranges.wraps(asked.source.address, length(63, 0)))
    extend.get.valid := open.valid || (known && running && !beyond)
    extend.get.bits.length := Mux(open.valid, asked.source.length, length(63, 0))
    extend.get.bits.more := more && (open.valid || !last)
    when(known && running) {
      asked.source.length := length(63, 0)
      when(last) { more := false.B }
      when(beyond) { end(Status.accessFault) }
    }
  }

  /** The output that memory has: all except the line in progress. */
  private def report(inMemory: UInt): Unit = {
    val lineBits = params.decoder.lineBits
    val first = RegEnable(destination(lineBits - 1, 0), begins)
    val bytes = RegNext((lines.get << lineBits) - first)
    val some = RegNext(lines.get =/= 0.U && begun, false.B)
    val under = some && begun && (state === State.running || draining)
    val sum = RegInit(0.U(64.W))
    sum := written + Mux(under, Mux(bytes > made, made, bytes), 0.U)
    when(operation.fire) { sum := 0.U }
    inMemory := sum
  }
}

/** The states of a [[DecompressorControl]]. */
object DecompressorControl {

  /** `settling` and `checking` compare the ranges; `draining` waits for all that is outstanding. */
  object State extends ChiselEnum {
    val idle, settling, checking, running, draining, reporting = Value
  }
}
