package rackwright.crypto

import chisel3._
import chisel3.util._

import rackwright.memory.Sram

/** Output that waits for its writer; what is hidden waits until it is known that it may be seen, or is dropped.
  *
  * @param entries
  *   a power of two.
  */
class HeldBlocks(entries: Int) extends Module {
  require(isPow2(entries) && entries > HeldBlocks.reserve)
  private val bits = log2Ceil(entries)

  /** Always taken: nobody gives one that was not begun while there was room. */
  val in = IO(Flipped(Valid(new HeldPiece)))
  val out = IO(Decoupled(new OutputPiece))

  /** As many as may be under way find room. */
  val roomy = IO(Output(Bool()))

  private val memory = Sram(entries, new OutputPiece)
  private val ahead = Module(new Queue(new OutputPiece, 3))

  /** Where the next one is written, what may be seen ends, and the next one is read; one bit more than a place has. */
  private val tail, seen, head = RegInit(0.U((bits + 1).W))
  private val place = Mux(in.bits.drops, seen, tail)
  when(in.valid) {
    memory.write(place(bits - 1, 0), in.bits.piece)
    tail := place + 1.U
    when(!in.bits.hides) { seen := place + 1.U }
  }

  private val fetched = RegInit(0.U(2.W))
  private val fetch = head =/= seen && fetched =/= 3.U
  when(fetch) { head := head + 1.U }
  fetched := fetched + fetch - out.fire
  ahead.io.enq.valid := RegNext(fetch, false.B)
  ahead.io.enq.bits := memory.read(head(bits - 1, 0), fetch)
  out <> ahead.io.deq
  roomy := RegNext(tail - head <= (entries - HeldBlocks.reserve).U, true.B)
  assert(!in.valid || tail - head < entries.U, "a block has no place")
}

object HeldBlocks {

  /** Places for what is under way when there is no more room. */
  val reserve: Int = 32
}
