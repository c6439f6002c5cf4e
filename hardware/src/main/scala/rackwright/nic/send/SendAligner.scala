package rackwright.nic.send

import chisel3._
import chisel3.util._

import rackwright.access.LoadedBeat
import rackwright.network.Flit
import rackwright.nic.port.{Completion, SendFlit}
import rackwright.port.{MemoryPortParams, Status}

/** Cuts frames out of the beats that hold them: the first byte of a frame is byte 0 of its first flit.
  *
  * A flit is taken from one or two of the oldest three beats. Two beats can leave in a cycle (at the end of a frame),
  * and the third is present so that this costs no cycle. If a frame may have several parts, each is aligned separately.
  *
  * @param flitBytes
  *   bytes of a flit, at most a beat.
  */
class SendAligner(port: MemoryPortParams, segments: Boolean, flitBytes: Int) extends Module {
  val frame = IO(Flipped(Decoupled(new SendFrame(port, segments))))
  val beat = IO(Flipped(Decoupled(new LoadedBeat(port.bytes))))
  val out = IO(Decoupled(new SendFlit(segments, flitBytes)))

  /** With the last flit of each frame, in order: from then on the frame's memory may be used again. */
  val completion = IO(Decoupled(new Completion))

  /** A frame waits for its bytes. */
  val stall = IO(Output(Bool()))

  /** No flit is accepted or passed on in this cycle. */
  val idle = IO(Output(Bool()))

  private val window = Reg(Vec(SendAligner.beats, new LoadedBeat(port.bytes)))
  private val held = RegInit(0.U(log2Ceil(SendAligner.beats + 1).W))
  private val first = RegInit(true.B)
  private val sentBefore = Reg(UInt(16.W))
  private val offsetBefore = Reg(UInt(port.offsetBits.W))
  private val faultBefore = Reg(Bool())

  private val sent = Mux(first, 0.U, sentBefore)
  private val offset = Mux(first, frame.bits.offset, offsetBefore)
  private val left = frame.bits.length - sent
  private val ending = left <= flitBytes.U
  private val count = Mux(ending, left, flitBytes.U)(Flit.countBits(flitBytes) - 1, 0)
  private val end = offset +& count
  private val crosses = end > port.bytes.U
  private val present = Mux(crosses, held >= 2.U, held >= 1.U)
  private val refused = frame.bits.status =/= Status.ok
  private val fault = (!first && faultBefore) || window(0).fault || (crosses && window(1).fault)

  // Only this box fills the completion queue: a place seen with a frame's first flit is still there with its last.
  out.valid := frame.valid && !refused && present && completion.ready
  private val bytes = (Cat(window(1).data, window(0).data) >> Cat(offset, 0.U(3.W)))(8 * flitBytes - 1, 0)
  out.bits.flit.data := bytes & FillInterleaved(8, Flit.firstBytes(count, flitBytes))
  out.bits.flit.count := count
  out.bits.flit.last := ending && !frame.bits.more.getOrElse(false.B)
  out.bits.checksum := frame.bits.checksum
  out.bits.header.zip(frame.bits.header).foreach { case (flit, frame) => flit := frame }

  private val finishes = out.fire && ending
  completion.valid := finishes || (frame.valid && refused)
  completion.bits.status := Mux(refused, frame.bits.status, Mux(fault, Status.accessFault, Status.ok))
  completion.bits.length := frame.bits.length
  completion.bits.sum := 0.U
  frame.ready := completion.fire
  stall := frame.valid && !refused && !present

  private val gone = Mux(out.fire, Mux(ending, 1.U +& crosses, (end >= port.bytes.U).asUInt), 0.U)
  private val kept = held - gone
  beat.ready := kept =/= SendAligner.beats.U
  idle := !out.fire && !completion.fire && !beat.fire
  held := kept + beat.fire

  private val entering = Wire(new LoadedBeat(port.bytes))
  entering.fault := beat.bits.fault
  entering.data := Mux(beat.bits.fault, 0.U, beat.bits.data)
  for (place <- 0 until SendAligner.beats) {
    val source = place.U +& gone
    when(beat.fire && kept === place.U) {
      window(place) := entering
    }.elsewhen(source < SendAligner.beats.U) {
      window(place) := window(source(held.getWidth - 1, 0))
    }
  }

  when(out.fire) {
    first := ending
    sentBefore := sent + flitBytes.U
    offsetBefore := end(port.offsetBits - 1, 0)
    faultBefore := fault
  }
}

/** Size of a [[SendAligner]]. */
object SendAligner {

  /** Beats held. */
  val beats: Int = 3
}
