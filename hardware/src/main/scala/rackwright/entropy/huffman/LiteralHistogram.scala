package rackwright.entropy.huffman

import chisel3._
import chisel3.util._

import rackwright.entropy.bits.FirstSet
import rackwright.memory.WriteFirstMemory

/** Literals to count: the first `count` of `data`. */
class CountedLiterals extends Bundle {
  val data = UInt((8 * CountedLiterals.lanes).W)
  val count = UInt(log2Ceil(CountedLiterals.lanes + 1).W)
}

object CountedLiterals {

  /** Literals counted per cycle. */
  val lanes: Int = 4
}

/** Counts the literals of a block, four per cycle, and gives out the counts of those that occur, one per cycle, symbols
  * ascending. What was given out counts from zero again. A bit for each literal says whether it has been counted, so
  * that memories need not be cleared.
  *
  * @param countBits
  *   bits of a count.
  */
class LiteralHistogram(countBits: Int) extends Module {
  private val symbols = 256

  /** Not while counts are given out. */
  val counted = IO(Flipped(Valid(new CountedLiterals)))

  /** Asks for the counts, once what was counted last is two cycles old. */
  val gather = IO(Input(Bool()))
  val count = IO(Valid(new SymbolCount(countBits)))

  /** Counts are given out. */
  val busy = IO(Output(Bool()))

  /** Literals that each memory has counted, and those of all that are still to be given out. */
  private val seen = Seq.fill(CountedLiterals.lanes)(RegInit(0.U(symbols.W)))
  private val left = RegInit(0.U(symbols.W))
  private val next = FirstSet(left)
  private val visiting = left.orR
  left := Mux(gather, seen.reduce(_ | _), Mux(visiting, next.rest, 0.U))

  // Found, read, added.
  private val reading = RegNext(visiting, false.B)
  private val at = RegNext(next.place)
  private val read = RegNext(reading, false.B)
  private val added = RegNext(read, false.B)
  private val gives = RegNext(added, false.B)
  busy := RegNext(gather, false.B) || visiting || reading || read || added || gives

  private val counts = seen.zipWithIndex.map { case (seen, lane) =>
    val memory = Module(new WriteFirstMemory(symbols, countBits))
    val counts = counted.valid && counted.bits.count > lane.U
    val symbol = Mux(reading, at, counted.bits.data(8 * lane + 7, 8 * lane))
    memory.read.valid := counts || reading
    memory.read.bits := symbol
    val number = Mux(RegNext(seen(symbol)), memory.data, 0.U)
    memory.write.valid := RegNext(counts, false.B)
    memory.write.bits.address := RegNext(symbol)
    memory.write.bits.data := number + 1.U
    when(counts) { seen := seen.bitSet(symbol, true.B) }
    when(RegNext(reading, false.B) && !reading) { seen := 0.U }
    number
  }
  private val pairs = counts.grouped(2).map(pair => RegNext(pair.reduce(_ + _))).toSeq
  count.valid := gives
  count.bits.symbol := ShiftRegister(at, 3)
  count.bits.count := RegNext(pairs.reduce(_ + _))
}
