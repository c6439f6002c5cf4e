package rackwright.lz77.decode

import chisel3._
import chisel3.util._

import rackwright.memory.RegisterFile

/** A queue that accepts and outputs up to `lanes` entries per cycle.
  *
  * Entries rotate over one bank per lane, so that each bank is written and read at most once per cycle.
  *
  * @param gen
  *   the entry.
  * @param entries
  *   capacity, a power of two.
  * @param lanes
  *   most entries in and out per cycle, a power of two.
  */
class DecoderQueue[T <: Data](gen: T, entries: Int, lanes: Int) extends Module {
  require(isPow2(entries) && isPow2(lanes) && entries >= 2 * lanes, "entries and lanes are powers of two")
  private val laneBits = log2Ceil(lanes)
  private val pointerBits = log2Ceil(entries)

  /** Drops all entries. */
  val clear = IO(Input(Bool()))

  /** The entries of this cycle are the first `pushed` of `push`; allowed while `roomy`. */
  val push = IO(Input(Vec(lanes, gen)))
  val pushed = IO(Input(UInt(log2Ceil(lanes + 1).W)))
  val roomy = IO(Output(Bool()))

  /** The oldest entries, of which the first `popped` are taken; `count` entries are stored in all. */
  val head = IO(Output(Vec(lanes, gen)))
  val popped = IO(Input(UInt(log2Ceil(lanes + 1).W)))
  val count = IO(Output(UInt(log2Ceil(entries + 1).W)))

  private val banks = Seq.tabulate(lanes)(lane => RegisterFile(entries / lanes, gen)(s"banks_$lane"))
  private val tail = RegInit(0.U(pointerBits.W))
  private val front = RegInit(0.U(pointerBits.W))
  private val held = RegInit(0.U(log2Ceil(entries + 1).W))

  private def bankOf(pointer: UInt): UInt = if (lanes == 1) 0.U else pointer(laneBits - 1, 0)
  private def rowOf(pointer: UInt): UInt = (pointer >> laneBits).asUInt

  for ((bank, index) <- banks.zipWithIndex) {
    val lane = if (lanes == 1) 0.U else (index.U(laneBits.W) - bankOf(tail))(laneBits - 1, 0)
    when(lane < pushed) { bank.write(rowOf((tail + lane)(pointerBits - 1, 0)), push(lane)) }
  }

  private val rows = VecInit(banks.zipWithIndex.map { case (bank, index) =>
    val lane = if (lanes == 1) 0.U else (index.U(laneBits.W) - bankOf(front))(laneBits - 1, 0)
    bank.read(rowOf((front + lane)(pointerBits - 1, 0)))
  })
  for (lane <- 0 until lanes) { head(lane) := rows(bankOf((front + lane.U)(pointerBits - 1, 0))) }

  tail := tail + pushed
  front := front + popped
  held := held + pushed - popped
  when(clear) {
    tail := 0.U
    front := 0.U
    held := 0.U
  }
  count := held
  roomy := held <= (entries - lanes).U
}
