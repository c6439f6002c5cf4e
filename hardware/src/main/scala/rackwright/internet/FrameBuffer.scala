package rackwright.internet

import chisel3._
import chisel3.util._

import rackwright.memory.Sram
import rackwright.network.Flit

/** Keeps frames until all of each is known to be good; a part of a frame, or a bad one, is never seen.
  *
  * @param gen
  *   the information on a frame that arrives with its last flit, and leaves with all of them.
  * @param flits
  *   capacity in flits, a power of two.
  * @param frames
  *   capacity in frames.
  * @param waits
  *   whether a frame waits for room; else it is dropped.
  */
class FrameBuffer[T <: Data](gen: T, flits: Int, frames: Int, waits: Boolean) extends Module {
  require(isPow2(flits), s"$flits flits are no power of two")
  private val pointerBits = log2Ceil(flits) + 1

  /** Ready in every cycle unless frames wait. A frame that waits and is not lost must fit. */
  val in = IO(Flipped(Decoupled(new Piece(gen))))

  /** The frame at `in` is to be dropped: from some flit on until its last. */
  val lose = IO(Input(Bool()))
  val out = IO(Decoupled(new Piece(gen)))

  /** With the last flit at `in`: there is no room for the frame. */
  val full = IO(Output(Bool()))

  /** No whole frame is here. */
  val idle = IO(Output(Bool()))

  private val ram = Sram(flits, new Flit())
  private val abouts = Module(new Queue(gen, frames))
  private val whole = RegInit(0.U(pointerBits.W))
  private val tail = RegInit(0.U(pointerBits.W))
  private val head = RegInit(0.U(pointerBits.W))
  private val noRoom = RegInit(false.B)

  private val isFull = tail - head === flits.U || !abouts.io.enq.ready
  private val flit = in.bits.flit
  if (waits) in.ready := lose || !isFull else in.ready := true.B
  private val lost = if (waits) false.B else noRoom || isFull
  private val keep = in.fire && !lost && !lose
  when(keep) { ram.write(tail(pointerBits - 2, 0), flit) }
  when(in.fire) {
    tail := Mux(keep, tail + 1.U, whole)
    noRoom := lost && !flit.last
    when(keep && flit.last) { whole := tail + 1.U }
  }
  abouts.io.enq.valid := keep && flit.last
  abouts.io.enq.bits := in.bits.about
  full := lost

  // The memory responds one cycle later: it is only read if there is room for the result.
  private val ahead = Module(new Queue(new Flit(), FrameBuffer.readAhead))
  private val arriving = RegInit(false.B)
  private val reading = head =/= whole && ahead.io.count +& arriving < FrameBuffer.readAhead.U
  arriving := reading
  ahead.io.enq.valid := arriving
  ahead.io.enq.bits := ram.read(head(pointerBits - 2, 0), reading)
  head := head + reading
  out.valid := ahead.io.deq.valid
  ahead.io.deq.ready := out.ready
  out.bits.flit := ahead.io.deq.bits
  out.bits.about := abouts.io.deq.bits
  abouts.io.deq.ready := out.fire && out.bits.flit.last
  idle := !reading && !arriving && !out.valid
}

/** Sizes of a [[FrameBuffer]]. */
object FrameBuffer {

  /** Flits taken out of a memory ahead: one that is read, one that waits, one that is taken. */
  val readAhead: Int = 3
}
