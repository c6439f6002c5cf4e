package rackwright.nic

import chisel3._
import chisel3.util._

/** Puts checksums into the frames that want one.
  *
  * The checksum comes before the bytes it covers, so such a frame waits here until it is whole. Other frames pass in
  * the same cycle, unless they would overtake.
  */
class SendChecksum extends Module {
  import SendChecksum._

  val in = IO(Flipped(Decoupled(new SendFlit)))
  val out = IO(Decoupled(new Flit))

  /** Nothing is taken or handed on in this cycle. */
  val idle = IO(Output(Bool()))

  private val flits = Module(new Queue(new Flit, bufferFlits, useSyncReadMem = true))
  private val frames = Module(new Queue(new WholeFrame, bufferedFrames))

  private val first = RegInit(true.B)
  private val passingBefore = Reg(Bool())
  private val sumBefore = Reg(UInt(16.W))
  private val position = RegInit(0.U(16.W))

  private val empty = flits.io.count === 0.U && !frames.io.deq.valid
  private val passing = Mux(first, empty && !in.bits.checksum.enable, passingBefore)
  private val room = flits.io.enq.ready && (frames.io.enq.ready || !in.bits.flit.last)
  in.ready := Mux(passing, out.ready, room)
  private val request = in.bits.checksum
  private val sum = InternetSum.extend(
    Mux(first, request.initial, sumBefore),
    in.bits.flit.data,
    ByteRange.from(request.start, position) & Flit.firstBytes(in.bits.flit.count),
    request.start(0)
  )

  when(in.fire) {
    first := in.bits.flit.last
    passingBefore := passing
    position := Mux(in.bits.flit.last, 0.U, position + Frame.flitBytes.U)
    sumBefore := sum
  }

  flits.io.enq.valid := in.fire && !passing
  flits.io.enq.bits := in.bits.flit
  frames.io.enq.valid := in.fire && !passing && in.bits.flit.last
  frames.io.enq.bits.insert := request.enable
  frames.io.enq.bits.offset := request.offset
  // Zero means "no checksum" in UDP; the other form of zero is equal in every sum.
  frames.io.enq.bits.checksum := Mux(sum.andR, sum, ~sum)

  private val drain = Module(new ChecksumInsert)
  drain.flit <> flits.io.deq
  drain.frame <> frames.io.deq
  drain.out.ready := out.ready
  out.valid := drain.out.valid || (passing && in.valid)
  out.bits := Mux(drain.out.valid, drain.out.bits, in.bits.flit)
  idle := !in.fire && !out.fire
}

/** A frame that waits to leave, with what is to be put into it. */
class WholeFrame extends Bundle {
  val insert = Bool()
  val offset = UInt(16.W)
  val checksum = UInt(16.W)
}

/** Takes whole frames from the buffer and puts the two bytes of the checksum in their place. */
class ChecksumInsert extends Module {
  val flit = IO(Flipped(Decoupled(new Flit)))
  val frame = IO(Flipped(Decoupled(new WholeFrame)))
  val out = IO(Decoupled(new Flit))

  private val position = RegInit(0.U(16.W))

  out.valid := flit.valid && frame.valid
  flit.ready := out.ready && frame.valid
  frame.ready := out.fire && flit.bits.last
  when(out.fire) { position := Mux(flit.bits.last, 0.U, position + Frame.flitBytes.U) }

  private val bytes = (0 until Frame.flitBytes).map { lane =>
    val place = position +& lane.U
    val byte = flit.bits.data(8 * lane + 7, 8 * lane)
    val high = frame.bits.insert && place === frame.bits.offset
    val low = frame.bits.insert && place === frame.bits.offset +& 1.U
    Mux(high, frame.bits.checksum(15, 8), Mux(low, frame.bits.checksum(7, 0), byte))
  }
  out.bits := flit.bits
  out.bits.data := VecInit(bytes).asUInt
}

/** Sizes of a [[SendChecksum]]. */
object SendChecksum {

  /** Room for the longest frame while the one before leaves. */
  val bufferFlits: Int = 2048

  /** Frames that may wait. */
  val bufferedFrames: Int = 16
}

/** Which bytes of a flit lie in a range of the frame. */
object ByteRange {

  /** A bit for each byte of a flit at `position` that is not before `start`. */
  def from(start: UInt, position: UInt): UInt =
    VecInit((0 until Frame.flitBytes).map(lane => position +& lane.U >= start)).asUInt
}
