package rackwright.nic.send

import chisel3._
import chisel3.util._

import rackwright.memory.SramQueue
import rackwright.network.{ByteRange, Flit, InternetSum}
import rackwright.nic.port.SendFlit

/** Inserts checksums into the frames that request one.
  *
  * The checksum precedes the bytes that it covers, so that such a frame waits here until it is complete. Other frames
  * pass in the same cycle, unless they would overtake.
  *
  * @param flitBytes
  *   bytes of a flit.
  */
class SendChecksum(flitBytes: Int) extends Module {
  import SendChecksum._

  val in = IO(Flipped(Decoupled(new SendFlit(flitBytes = flitBytes))))
  val out = IO(Decoupled(new Flit(flitBytes)))

  /** No flit is accepted or passed on in this cycle. */
  val idle = IO(Output(Bool()))

  private val flits = Module(new SramQueue(new Flit(flitBytes), bufferBytes / flitBytes))
  private val frames = Module(new Queue(new WholeFrame, bufferedFrames))

  private val first = RegInit(true.B)
  private val passingBefore = Reg(Bool())
  private val sum = Module(new InternetSum(new SummedFrame, flitBytes))
  private val position = RegInit(0.U(16.W))

  // A frame is complete when its sum is; there is room for those being summed.
  private val hasRoomNow = frames.io.count <= (bufferedFrames - framesUnderWay).U
  private val hasRoom = RegNext(hasRoomNow, true.B)
  private val empty = flits.empty && !frames.io.deq.valid
  private val passing = Mux(first, empty && !in.bits.checksum.enable, passingBefore)
  private val room = flits.enq.ready && hasRoom
  in.ready := Mux(passing, out.ready, room)
  private val request = in.bits.checksum
  private val waits = in.fire && !passing
  sum.in.valid := waits
  sum.in.bits.data := in.bits.flit.data
  sum.in.bits.mask := ByteRange.from(request.start, position, flitBytes) & Flit.firstBytes(
    in.bits.flit.count,
    flitBytes
  )
  sum.in.bits.odd := request.start(0)
  sum.in.bits.first := first
  sum.in.bits.initial := request.initial
  sum.in.bits.along.insert := request.enable
  sum.in.bits.along.offset := request.offset
  sum.in.bits.along.last := in.bits.flit.last
  assert(!waits || sum.in.ready, "a flit waits for a sum that nothing holds up")

  when(in.fire) {
    first := in.bits.flit.last
    passingBefore := passing
    position := Mux(in.bits.flit.last, 0.U, position + flitBytes.U)
  }

  flits.clear := false.B
  flits.enq.valid := waits
  flits.enq.bits := in.bits.flit
  sum.out.ready := true.B
  frames.io.enq.valid := sum.out.valid && sum.out.bits.along.last
  frames.io.enq.bits.insert := sum.out.bits.along.insert
  frames.io.enq.bits.offset := sum.out.bits.along.offset
  // Zero means "no checksum" in UDP; the other form of zero is equal in every sum.
  frames.io.enq.bits.checksum := Mux(sum.out.bits.sum.andR, sum.out.bits.sum, ~sum.out.bits.sum)
  assert(!frames.io.enq.valid || frames.io.enq.ready, "a whole frame has no place")

  private val drain = Module(new ChecksumInsert(flitBytes))
  drain.flit <> flits.deq
  drain.frame <> frames.io.deq
  drain.out.ready := out.ready
  out.valid := drain.out.valid || (passing && in.valid)
  out.bits := Mux(drain.out.valid, drain.out.bits, in.bits.flit)
  idle := !in.fire && !out.fire && sum.idle && flits.still && hasRoom === hasRoomNow
}

/** The data that accompany a summed flit. */
class SummedFrame extends Bundle {
  val insert = Bool()
  val offset = UInt(16.W)

  /** The frame ends with this flit. */
  val last = Bool()
}

/** A frame that waits to leave, with the checksum to insert. */
class WholeFrame extends Bundle {
  val insert = Bool()
  val offset = UInt(16.W)
  val checksum = UInt(16.W)
}

/** Takes whole frames from the buffer and inserts the two bytes of the checksum. */
class ChecksumInsert(flitBytes: Int) extends Module {
  val flit = IO(Flipped(Decoupled(new Flit(flitBytes))))
  val frame = IO(Flipped(Decoupled(new WholeFrame)))
  val out = IO(Decoupled(new Flit(flitBytes)))

  private val position = RegInit(0.U(16.W))

  out.valid := flit.valid && frame.valid
  flit.ready := out.ready && frame.valid
  frame.ready := out.fire && flit.bits.last
  when(out.fire) { position := Mux(flit.bits.last, 0.U, position + flitBytes.U) }

  private val bytes = (0 until flitBytes).map { lane =>
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
  val bufferBytes: Int = 16384

  /** Frames that may wait. */
  val bufferedFrames: Int = 16

  /** Of those, frames of one flit that may be in the pipeline of the sum and the register of the room. */
  private val framesUnderWay = 7
}
