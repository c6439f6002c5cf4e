package rackwright.nic.receive

import chisel3._
import chisel3.util._

import rackwright.memory.Sram
import rackwright.network.{Flit, Frame}

/** Stores whole frames from the wire until memory accepts them, and drops frames for which there is no room.
  *
  * A frame is written after the last whole one and becomes visible with its last flit. If it does not fit, is too long
  * or has no bytes, its place is freed at its end: an incomplete frame is never visible.
  *
  * @param flits
  *   its capacity in flits.
  * @param flitBytes
  *   bytes of each.
  * @param tellsLengths
  *   the length of each stored frame is output when the frame becomes visible.
  */
class PacketBuffer(flits: Int, flitBytes: Int, tellsLengths: Boolean) extends Module {
  require(isPow2(flits) && flits > Frame.maxBytes / flitBytes, s"$flits flits can't hold the longest frame")
  private val pointerBits = log2Ceil(flits) + 1

  /** From the wire; never waits. */
  val in = IO(Flipped(Valid(new Flit(flitBytes))))
  val out = IO(Decoupled(new Flit(flitBytes)))

  /** The length of a frame that has become visible; there must be room for it whenever a frame ends. */
  val kept = Option.when(tellsLengths)(IO(Output(Valid(UInt(Frame.lengthBits.W)))))
  val roomForLength = Option.when(tellsLengths)(IO(Input(Bool())))

  /** A frame has been dropped in this cycle because there was no room. */
  val droppedFull = IO(Output(Bool()))

  /** A frame has been dropped in this cycle because it is too long or empty. */
  val droppedLength = IO(Output(Bool()))

  /** The buffer is inactive until `out` is taken or a flit arrives. */
  val idle = IO(Output(Bool()))

  private val ram = Sram(flits, new Flit(flitBytes))
  private val whole = RegInit(0.U(pointerBits.W))
  private val tail = RegInit(0.U(pointerBits.W))
  private val head = RegInit(0.U(pointerBits.W))

  private val length = RegInit(0.U((Frame.lengthBits + 1).W))
  private val noRoom = RegInit(false.B)

  private val newLength = length + in.bits.count
  private val tooLong = newLength > Frame.maxBytes.U
  private val isFull = tail - head === flits.U
  private val carries = in.valid && (in.bits.count =/= 0.U || in.bits.last)
  private val lost = noRoom || (carries && roomForLength.map(!_).foldLeft(isFull)(_ || _))
  private val write = carries && !lost && !tooLong
  private val ends = in.valid && in.bits.last
  private val wrongLength = tooLong || newLength === 0.U
  private val keep = !lost && !wrongLength

  when(write) { ram.write(tail(pointerBits - 2, 0), in.bits) }
  when(ends) {
    tail := Mux(keep, tail + 1.U, whole)
    when(keep) { whole := tail + 1.U }
    length := 0.U
    noRoom := false.B
  }.elsewhen(in.valid) {
    tail := tail + write
    // Stays above the limit without wrapping, however long the frame is.
    length := Mux(tooLong, (Frame.maxBytes + 1).U, newLength)
    noRoom := lost
  }
  kept.foreach { told =>
    told.valid := ends && keep
    told.bits := newLength
  }
  droppedLength := ends && wrongLength
  droppedFull := ends && !wrongLength && lost

  // The memory responds one cycle later: it is only read if there is room for the result.
  private val ahead = Module(new Queue(new Flit(flitBytes), PacketBuffer.readAhead))
  private val arriving = RegInit(false.B)
  private val reading = head =/= whole && ahead.io.count +& arriving < PacketBuffer.readAhead.U
  arriving := reading
  ahead.io.enq.valid := arriving
  ahead.io.enq.bits := ram.read(head(pointerBits - 2, 0), reading)
  head := head + reading
  out <> ahead.io.deq
  idle := !reading && !arriving
}

/** Sizes of a [[PacketBuffer]]. */
object PacketBuffer {

  /** Flits taken out of the memory ahead: one that is read, one that waits, one that is taken. */
  val readAhead: Int = 3
}
