package rackwright.snappy

import chisel3._
import chisel3.util._

import rackwright.access.RangeBeat
import rackwright.compression.DecompressorPort
import rackwright.port.Status

/** Snappy for a decompressor that also knows other formats: the preamble, and then elements, from a stream of bytes.
  *
  * Lines of the stream correspond to beats of memory in [[SnappyDecompressor]]. Bytes before an unreadable one are not
  * processed if they are not a whole line.
  *
  * @param params
  *   what to build.
  */
class ElementBoxes(params: SnappyDecompressorParams) extends Module {
  import ElementBoxes.State

  val decompressor = IO(new DecompressorPort(params))
  import decompressor.{clear, open, stream}

  private val bytes = params.port.bytes
  private val elements = Module(new SnappyElementDecoder(params.decoder))
  private val state = RegInit(State.idle)
  private val inPreamble = state === State.preamble
  private val inBody = state === State.body

  /** An operation is in progress: the bytes of the input belong to this format. */
  private val reading = RegInit(false.B)
  when(open.valid) { reading := true.B }
  when(clear) { reading := false.B }

  // Lines.
  private val line = Wire(Decoupled(new RangeBeat(params.port)))
  private val whole = stream.available === bytes.U
  private val unreadable = stream.fault && !whole
  line.valid := reading && (whole || unreadable || (stream.last && stream.available =/= 0.U))
  line.bits.data := stream.data.asUInt
  line.bits.end := Mux(unreadable, 0.U, stream.available)
  line.bits.last := stream.last
  line.bits.fault := unreadable
  stream.consume := Mux(line.fire && !unreadable, stream.available, 0.U)
  // In registers, so that aligning the bytes and decoding them are two paths.
  elements.beat <> withReset(reset.asBool || clear)(Queue(line, 2))
  elements.open.valid := open.valid
  elements.open.bits := 0.U
  elements.stop := clear

  // The preamble is held in registers, then compared with the room, then obeyed.
  private val held = RegEnable(elements.preamble.bits, elements.preamble.valid)
  private val heldFault = RegEnable(elements.faultAhead, elements.preamble.valid)
  private val known = RegNext(elements.preamble.valid && inPreamble, false.B)
  private val judged = RegNext(known, false.B)
  private val tooLong = RegNext(held.length > decompressor.room)
  private val empty = open.bits.length === 0.U
  decompressor.begin := state === State.begin
  elements.start.valid := decompressor.begun
  elements.start.bits := held.bytes
  elements.declared := held.length
  elements.inputLeft := RegNext(open.bits.length - held.bytes)
  elements.enable := inBody && decompressor.roomy && decompressor.literalsRoomy

  decompressor.segments := elements.output
  decompressor.literals := elements.literals
  decompressor.starved := elements.starved

  private val why = Reg(UInt(Status.width.W))
  private val element = Reg(UInt(64.W))
  private def fail(status: UInt): Unit = {
    why := status
    state := State.failed
  }
  when(inPreamble) {
    when(judged && !held.known) {
      fail(Mux(heldFault, Status.accessFault, Status.malformed))
    }.elsewhen((judged && !held.valid) || empty) {
      fail(Status.malformed)
    }.elsewhen(judged && tooLong) {
      // Without a limit, the room ends at the end of the address space.
      fail(Mux(decompressor.limited, Status.outputFull, Status.accessFault))
    }.elsewhen(judged) {
      state := State.begin
    }.elsewhen(elements.unreadable) {
      fail(Status.accessFault)
    }
  }
  when(decompressor.begun) { state := State.body }
  when(inBody) {
    element := open.bits.length - elements.elementLeft
    when(elements.unreadable) {
      fail(Status.accessFault)
    }.elsewhen(elements.malformed) {
      fail(Status.malformed)
    }.elsewhen(elements.finished) {
      state := State.finished
    }
  }
  when(open.valid) {
    element := 0.U
    state := State.preamble
  }
  when(clear) { state := State.idle }

  decompressor.finished := state === State.finished
  decompressor.failed := state === State.failed
  decompressor.failure := why
  decompressor.element := element

  // One part without a checksum, which ends with the operation; the input is read once.
  decompressor.close := false.B
  decompressor.hashed := true.B
  decompressor.lineReady := true.B
  decompressor.seek.valid := false.B
  decompressor.seek.bits := DontCare
  decompressor.enter.valid := false.B
  decompressor.enter.bits := DontCare
  decompressor.memoryIdle := true.B
}

/** The states of [[ElementBoxes]]. */
object ElementBoxes {

  /** `begin` waits for the decoder. */
  object State extends ChiselEnum {
    val idle, preamble, begin, body, finished, failed = Value
  }
}
