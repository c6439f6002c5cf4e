package rackwright.allocate

import chisel3._
import chisel3.util._

import rackwright.memory.Sram

/** Free blocks that are stored on chip for the next call, a stack for each size. */
class KeptBlocks(params: Params) extends Module {
  private val slotBits = log2Ceil(params.kept)

  val clear = IO(Input(Bool()))

  /** The size to which `any` and `room` refer. */
  val size = IO(Input(UInt(params.keptSizeBits.W)))
  val any = IO(Output(Bool()))
  val room = IO(Output(Bool()))
  val push = IO(Flipped(Valid(UInt(Grain.bits.W))))

  /** Takes the last one of this size; it is available a cycle later. */
  val pop = IO(Input(Bool()))
  val popped = IO(Output(UInt(Grain.bits.W)))

  private val sizes = 1 << params.keptSizeBits
  private val counts = RegInit(VecInit.fill(sizes)(0.U(params.keptCountBits.W)))
  private val places = Sram(sizes * params.kept, UInt(Grain.bits.W))
  private val count = counts(size)
  any := count =/= 0.U
  room := count =/= params.kept.U

  private def slot(index: UInt): UInt = Cat(size, index(slotBits - 1, 0))
  popped := places.read(slot(count - 1.U), pop)
  when(push.valid) {
    places.write(slot(count), push.bits)
    counts(size) := count + 1.U
  }
  when(pop) { counts(size) := count - 1.U }
  when(clear) { counts.foreach(_ := 0.U) }
  assert(!pop || any, "a block is taken that is not kept")
  assert(!push.valid || room, "a block is kept for which there is no room")
}
