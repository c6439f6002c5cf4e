package rackwright.lz77.encode

import chisel3._
import chisel3.util._

import EncoderParams._

/** Decides which position of a group uses which bank of the hash table.
  *
  * Pure logic. The last position that requests a bank wins it; others with the same set use the same read.
  *
  * @param params
  *   sizes of the encoder.
  */
class HashTableArbiter(params: EncoderParams) extends Module {
  val sets = IO(Input(Vec(lanes, Valid(UInt(params.indexBits.W)))))

  /** Which banks are used. */
  val used = IO(Output(UInt(params.hashBanks.W)))

  /** Per bank, the position that won it. */
  val winners = IO(Output(Vec(params.hashBanks, UInt(laneBits.W))))

  /** Per bank, the row to use. */
  val rows = IO(Output(Vec(params.hashBanks, UInt(params.rowBits.W))))

  /** Per position, whether its set is the one that is read. */
  val served = IO(Output(Vec(lanes, Bool())))

  private val banks = sets.map(_.bits(params.bankBits - 1, 0))
  private val rowOf = VecInit(sets.map(set => (set.bits >> params.bankBits)(params.rowBits - 1, 0)))
  private val wanted = sets.zip(banks).map { case (set, bank) => Mux(set.valid, UIntToOH(bank, params.hashBanks), 0.U) }

  // One bit per bank: which are taken by later positions, and which each position takes.
  private val taken = wanted.scanRight(0.U(params.hashBanks.W))(_ | _)
  private val granted = wanted.zip(taken.tail).map { case (want, later) => want & ~later }
  used := taken.head

  private val winnerBits = (0 until laneBits).map { bit =>
    granted.zipWithIndex.collect { case (grant, lane) if (lane >> bit & 1) == 1 => grant }.reduce(_ | _)
  }
  for (bank <- 0 until params.hashBanks) {
    winners(bank) := Cat(winnerBits.reverse.map(_(bank)))
    rows(bank) := rowOf(winners(bank))
  }
  for (lane <- 0 until lanes) served(lane) := sets(lane).valid && rows(banks(lane)) === rowOf(lane)
}
