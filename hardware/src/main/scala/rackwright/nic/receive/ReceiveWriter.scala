package rackwright.nic.receive

import chisel3._
import chisel3.util._

import rackwright.nic.port.Completion
import rackwright.port.{MemoryPort, MemoryPortParams, Status}

/** Has the beats of frames written, and completes each frame when all of its writes have been answered.
  *
  * Beats take the slots of a ring in their order, and leave it in their order once they are answered; the slot is the
  * tag. Thus any number of frames may be in progress, and a frame is complete when its last beat leaves.
  */
class ReceiveWriter(port: MemoryPortParams, outstanding: Int) extends Module {
  import ReceiveWriter.frames

  val beat = IO(Flipped(Decoupled(new FrameBeat(port))))
  val memory = IO(new MemoryPort(port))

  /** In the order of the frames. */
  val completion = IO(Decoupled(new Completion))

  /** No request, flit or completion is transferred in this cycle. */
  val idle = IO(Output(Bool()))

  private val slotBits = log2Ceil(outstanding)
  private val results = Module(new Queue(new Completion, frames))
  private val answered = RegInit(0.U(outstanding.W))
  private val faulty = RegInit(0.U(outstanding.W))
  private val lasts = RegInit(0.U(outstanding.W))
  private val head = RegInit(0.U(slotBits.W))
  private val tail = RegInit(0.U(slotBits.W))
  private val held = RegInit(0.U((slotBits + 1).W))
  private val faultBefore = RegInit(false.B)

  private val room = held =/= outstanding.U && (results.io.enq.ready || !beat.bits.last)
  private val writes = beat.bits.write.mask.orR
  memory.request.valid := beat.valid && room && writes
  memory.request.bits.address := beat.bits.write.address
  memory.request.bits.write := true.B
  memory.request.bits.data := beat.bits.write.data
  memory.request.bits.mask := beat.bits.write.mask
  memory.request.bits.tag := tail
  beat.ready := room && (!writes || memory.request.ready)
  results.io.enq.valid := beat.fire && beat.bits.last
  results.io.enq.bits := beat.bits.completion

  private val isLast = lasts(head)
  private val isAnswered = held =/= 0.U && answered(head)
  private val fault = faultBefore || faulty(head)
  private val leaves = isAnswered && (!isLast || completion.ready)
  completion.valid := isAnswered && isLast
  completion.bits := results.io.deq.bits
  when(fault) { completion.bits.status := Status.accessFault }
  results.io.deq.ready := completion.fire
  when(leaves) { faultBefore := fault && !isLast }

  private def slotIf(condition: Bool, slot: UInt): UInt = Mux(condition, UIntToOH(slot, outstanding), 0.U)
  memory.response.ready := true.B
  private val entering = slotIf(beat.fire, tail)
  private val answer = slotIf(memory.response.valid, memory.response.bits.tag)
  private val done = slotIf(beat.fire && !writes, tail) | answer
  answered := (answered & ~entering) | done
  faulty := (faulty & ~entering) | Mux(memory.response.bits.fault, answer, 0.U)
  lasts := (lasts & ~entering) | Mux(beat.bits.last, entering, 0.U)

  head := head + leaves
  tail := tail + beat.fire
  held := held + beat.fire - leaves
  idle := !memory.request.valid && !beat.fire && !leaves
}

/** Sizes of a [[ReceiveWriter]]. */
object ReceiveWriter {

  /** Frames with outstanding writes: the shortest frames (8 flits) during 256 cycles of latency. */
  val frames: Int = 32
}
