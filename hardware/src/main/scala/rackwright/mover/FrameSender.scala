package rackwright.mover

import chisel3._
import chisel3.util._

import rackwright.access.StreamLoader
import rackwright.port.{MemoryPort, Status}

/** Reads buffers from memory and sends each as a frame into a unit's stream.
  *
  * A transfer is full, except for the last one of a frame, whose bytes begin in the lowest lane. A frame that memory
  * refuses to read ends before the first transfer with such a byte, without `last`.
  */
class FrameSender(shape: StreamShape) extends Module {
  import FrameSender.State

  /** Starts a frame, ends it early, and the result. */
  val control = IO(Flipped(new StreamControl))

  /** The unit. */
  val stream = IO(Decoupled(new Transfer(shape.bytes)))

  /** Reads only. */
  val memory = IO(new MemoryPort(shape.port))

  /** No frame is being sent. */
  val idle = IO(Output(Bool()))

  private val loader = Module(new StreamLoader(shape.port, shape.bytes, shape.port.outstanding))
  private val state = RegInit(State.idle)
  private val frame = Reg(new FrameRange)
  private val status = Reg(UInt(Status.width.W))
  private val moved = RegInit(0.U(32.W))
  private val stopping = RegInit(false.B)
  memory <> loader.memory

  private val cut = if (shape.keep) false.B else frame.bytes % shape.bytes.U =/= 0.U
  loader.range.valid := state === State.starting && !cut
  loader.range.bits.address := frame.address
  loader.range.bits.length := frame.bytes

  private val bytes = loader.stream
  private val sending = state === State.sending
  private val full = bytes.available === shape.bytes.U
  stream.valid := sending && (full || (bytes.last && bytes.available =/= 0.U))
  stream.bits.data := bytes.data.asUInt
  stream.bits.keep := ((1.U << bytes.available) - 1.U)(shape.bytes - 1, 0)
  stream.bits.last := bytes.last
  bytes.consume := Mux(stream.fire, bytes.available, 0.U)

  // An offered transfer may not be withdrawn (section 2.2.1).
  private val waits = stream.valid && !stream.ready
  private val refused = bytes.fault && !full
  private val complete = bytes.last && bytes.available === 0.U
  loader.stop := sending && (refused || complete || (stopping && !waits))

  control.done := (state === State.starting && cut) || (state === State.ending && loader.idle)
  control.status := Mux(state === State.starting, Status.unsupported, status)
  control.moved := moved
  idle := state === State.idle && loader.idle

  when(stream.fire) { moved := moved + bytes.available }
  when(control.stop) { stopping := true.B }
  when(control.start.valid) {
    state := State.starting
    frame := control.start.bits
    moved := 0.U
    stopping := false.B
  }
  when(loader.range.fire) { state := State.sending }
  when(loader.stop) {
    state := State.ending
    status := Mux(refused, Status.accessFault, Status.ok)
  }
  when(control.done) { state := State.idle }
}

/** The states of a [[FrameSender]]. */
object FrameSender {

  /** `ending` waits for the responses to reads that are not needed any more. */
  object State extends ChiselEnum {
    val idle, starting, sending, ending = Value
  }
}
