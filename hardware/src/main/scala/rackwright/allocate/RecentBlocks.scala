package rackwright.allocate

import chisel3._
import chisel3.util._

import rackwright.memory.Sram

/** A small block that has been allocated to a program. */
class RecentBlock(params: Params) extends Bundle {
  val place = UInt(Grain.bits.W)
  val size = UInt(params.keptSizeBits.W)
}

/** The sizes of recently allocated blocks, so that their headers need not be read when they are freed.
  */
class RecentBlocks(params: Params) extends Module {
  private val indexBits = log2Ceil(params.recent)
  private def index(place: UInt): UInt = place(indexBits - 1, 0) ^ place(2 * indexBits - 1, indexBits)

  val clear = IO(Input(Bool()))
  val handed = IO(Flipped(Valid(new RecentBlock(params))))

  /** The place of a freed block, which is thereby forgotten. */
  val back = IO(Flipped(Valid(UInt(Grain.bits.W))))

  /** A cycle later: whether it is known, and its size. */
  val known = IO(Output(Bool()))
  val size = IO(Output(UInt(params.keptSizeBits.W)))

  private val filled = RegInit(VecInit.fill(params.recent)(false.B))
  private val blocks = Sram(params.recent, new RecentBlock(params))
  when(handed.valid) {
    blocks.write(index(handed.bits.place), handed.bits)
    filled(index(handed.bits.place)) := true.B
  }
  private val block = blocks.read(index(back.bits), back.valid)
  private val asked = RegNext(back)
  known := asked.valid && RegNext(filled(index(back.bits))) && block.place === asked.bits
  size := block.size
  when(known) { filled(index(asked.bits)) := false.B }
  when(clear) { filled.foreach(_ := false.B) }
}
