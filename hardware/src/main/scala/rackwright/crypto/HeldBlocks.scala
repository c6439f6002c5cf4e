package rackwright.crypto

import chisel3._
import chisel3.util._

import rackwright.memory.Sram

/** Output that waits for its writer; hidden output waits until it may be released, or is dropped.
  *
  * @param entries
  *   a power of two.
  */
class HeldBlocks(entries: Int) extends Module {
  require(isPow2(entries) && entries > HeldBlocks.reserve)
  private val bits = log2Ceil(entries)

  /** Always accepted: no block is sent that was not started while there was room. */
  val in = IO(Flipped(Valid(new HeldPiece)))
  val out = IO(Decoupled(new OutputPiece))

  /** There is room for all blocks in progress. */
  val roomy = IO(Output(Bool()))

  private val memory = Sram(entries, new OutputPiece)
  private val ahead = Module(new Queue(new OutputPiece, 3))

  /** The next position to write, the end of the visible blocks, and the next position to read; with one additional bit.
    */
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

  /** Places for blocks in progress when there is no more room. */
  val reserve: Int = 32
}
