package rackwright.ordered

import chisel3._
import chisel3.util._

import rackwright.memory.Sram

/** Has the answers of walks until all of the queries before have theirs. */
class Answers(params: Params) extends Module {
  private val slots = params.walks

  /** A walk begins in the slot `free`, if there is room. */
  val starts = IO(Input(Bool()))
  val free = IO(Output(UInt(params.slotBits.W)))
  val hasRoom = IO(Output(Bool()))

  /** The walk in `slot` has ended. */
  val ended = IO(Flipped(Valid(new Ended)))
  val slot = IO(Input(UInt(params.slotBits.W)))
  val output = IO(Decoupled(new Ended))
  val empty = IO(Output(Bool()))

  private val answers = Sram(slots, new Ended)
  private val done = RegInit(VecInit.fill(slots)(false.B))
  private val tail, head = RegInit(0.U(params.slotBits.W))
  private val held = RegInit(0.U((params.slotBits + 1).W))
  free := tail
  hasRoom := held =/= slots.U
  when(ended.valid) {
    answers.write(slot, ended.bits)
    done(slot) := true.B
  }
  when(starts) { tail := tail + 1.U }

  private val queue = Module(new Queue(new Ended, 4))
  private val isRead = RegInit(false.B)
  private val leaves = held =/= 0.U && done(head) && queue.io.count + isRead < 4.U
  queue.io.enq.bits := answers.read(head, leaves)
  queue.io.enq.valid := isRead
  isRead := leaves
  when(leaves) {
    done(head) := false.B
    head := head + 1.U
  }
  held := held + starts - leaves
  output <> queue.io.deq
  empty := held === 0.U && !isRead && !output.valid
}
