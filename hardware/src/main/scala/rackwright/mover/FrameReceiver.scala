package rackwright.mover

import chisel3._
import chisel3.util._

import rackwright.access.StreamWriter
import rackwright.port.MemoryPort
import rackwright.stream.SkidBuffer

/** Writes the frames of a unit's stream to buffers in memory.
  *
  * Of a transfer, one run of adjacent bytes is written in a cycle, so that bytes that do not count may be anywhere. A
  * stream with `last` has frames, which end with it: bytes beyond the buffer are dropped. A stream without `last` is
  * cut: a frame ends when its buffer is full, and the next byte is the first of the next frame.
  */
class FrameReceiver(shape: StreamShape) extends Module {
  import FrameReceiver.State

  /** Starts a frame, ends it early, and the result. */
  val control = IO(Flipped(new StreamControl))

  /** The unit. */
  val stream = IO(Flipped(Decoupled(new Transfer(shape.bytes))))

  /** Writes only. */
  val memory = IO(new MemoryPort(shape.port))

  /** No frame is being received, and no transfer offered. */
  val idle = IO(Output(Bool()))

  private val writer = Module(new StreamWriter(shape.port, shape.port.bytes, shape.port.outstanding))
  private val state = RegInit(State.idle)
  private val frame = Reg(new FrameRange)
  private val offered = SkidBuffer(stream)
  memory <> writer.memory

  // The first run of bytes that are still to be written.
  private val gone = RegInit(0.U(shape.bytes.W))
  private val lanes = (if (shape.keep) offered.bits.keep else Fill(shape.bytes, 1.U(1.W))) & ~gone
  private val first = PriorityEncoder(lanes)
  private val run = PriorityEncoder(~Cat(0.U(1.W), (lanes >> first)(shape.bytes - 1, 0)))
  private val cut = !shape.last.B && frame.bytes < run
  private val count = Mux(cut, frame.bytes(run.getWidth - 1, 0), run)
  private val written = (((1.U << count) - 1.U) << first)(shape.bytes - 1, 0)
  private val left = lanes & ~written

  private val receiving = state === State.receiving
  private val isFull = !shape.last.B && frame.bytes === 0.U
  writer.chunk.valid := receiving && offered.valid && lanes =/= 0.U && !isFull
  writer.chunk.bits.data := (offered.bits.data >> Cat(first, 0.U(3.W))).pad(8 * shape.port.bytes).asTypeOf(
    writer.chunk.bits.data
  )
  writer.chunk.bits.count := count
  private val chunk = writer.chunk.fire
  offered.ready := receiving && !isFull && (lanes === 0.U || (chunk && left === 0.U))

  writer.start.valid := state === State.starting
  writer.start.bits.address := frame.address
  writer.start.bits.capacity := frame.bytes
  writer.finish := state === State.ending
  writer.result.ready := true.B

  control.done := writer.result.fire
  control.status := writer.result.bits.status
  control.moved := writer.written
  idle := state === State.idle && writer.idle && !stream.valid

  when(chunk) {
    gone := Mux(left === 0.U, 0.U, gone | written)
    frame.bytes := frame.bytes - count
  }
  when(control.start.valid) {
    state := State.starting
    frame := control.start.bits
  }
  when(writer.start.fire) { state := State.receiving }
  private val ends = if (shape.last) offered.fire && offered.bits.last else isFull
  when(receiving && (ends || control.stop)) { state := State.ending }
  when(control.done) { state := State.idle }
}

/** The states of a [[FrameReceiver]]. */
object FrameReceiver {

  /** `ending` waits for the responses to writes. */
  object State extends ChiselEnum {
    val idle, starting, receiving, ending = Value
  }
}
