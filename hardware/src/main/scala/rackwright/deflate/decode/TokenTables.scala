package rackwright.deflate.decode

import chisel3._
import chisel3.util._

import rackwright.deflate.{DistanceEntry, LiteralEntry}
import rackwright.deflate.TokenFormat._
import rackwright.entropy.huffman.{CanonicalCode, CanonicalPlace}

/** The codes of a block, and the meaning of their symbols, indexed in the order of the codes. */
class TokenCodes extends Bundle {
  val literal = new CanonicalCode(mostBits, literalSymbols)
  val distance = new CanonicalCode(mostBits, distanceSymbols)
  val literals = Vec(literalSymbols, new LiteralEntry)
  val distances = Vec(distanceSymbols, new DistanceEntry)
}

/** Holds the codes of a block: the described ones, or the fixed ones, which are loaded in one cycle. */
class TokenTables extends Module {

  /** Selects the described codes as they are built; the second signal selects the fixed ones. */
  val described = IO(Input(Bool()))
  val fixed = IO(Input(Bool()))

  val literal = IO(Input(new CanonicalCode(mostBits, literalSymbols)))
  val distance = IO(Input(new CanonicalCode(mostBits, distanceSymbols)))
  val literalPlace = IO(Flipped(Valid(new CanonicalPlace(literalSymbols))))
  val distancePlace = IO(Flipped(Valid(new CanonicalPlace(distanceSymbols))))
  val codes = IO(Output(new TokenCodes))

  private val held = Reg(new TokenCodes)
  codes := held

  when(literalPlace.valid) { held.literals(literalPlace.bits.place) := literalEntry(literalPlace.bits.symbol) }
  when(distancePlace.valid) { held.distances(distancePlace.bits.place) := distanceEntry(distancePlace.bits.symbol) }
  when(described) {
    held.literal := literal
    held.distance := distance
  }
  when(fixed) {
    load(held.literal, fixedLiterals)
    load(held.distance, fixedDistances)
    for ((symbol, place) <- TokenTables.order(fixedLiterals).zipWithIndex)
      held.literals(place) := literalEntry(symbol.U(9.W))
    for ((symbol, place) <- TokenTables.order(fixedDistances).zipWithIndex)
      held.distances(place) := distanceEntry(symbol.U(5.W))
  }

  private def load(code: CanonicalCode, lengths: Seq[Int]): Unit = {
    val (limits, places) = TokenTables.canonical(lengths)
    for (n <- 0 until mostBits) {
      code.limits(n) := limits(n).U
      code.places(n) := places(n).U
    }
  }
}

object TokenTables {

  /** The symbols in the order of their codes. */
  def order(lengths: Seq[Int]): Seq[Int] = lengths.indices.filter(lengths(_) != 0).sortBy(s => (lengths(s), s))

  /** Limits and offsets of the canonical code with these lengths, as in [[rackwright.entropy.huffman.CanonicalCode]].
    */
  def canonical(lengths: Seq[Int]): (Seq[Int], Seq[Int]) = {
    val counts = (1 to mostBits).map(n => lengths.count(_ == n))
    val limits = counts.zipWithIndex.scanLeft(0) { case (sum, (count, i)) => sum + (count << (mostBits - 1 - i)) }
    val indices = counts.scanLeft(0)(_ + _)
    val range = 1 << log2Ceil(lengths.size)
    val places = (1 to mostBits).map(n => Math.floorMod(indices(n - 1) - (limits(n - 1) >> (mostBits - n)), range))
    (limits.tail, places)
  }
}
