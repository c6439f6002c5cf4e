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

/** Counts the literals of a block, four per cycle, and emits the counts of those that occur, one per cycle, in
  * ascending order of symbols. An emitted count restarts from zero. A valid bit for each literal and memory makes
  * clearing the memories unnecessary.
  *
  * @param countBits
  *   bits of a count.
  */
class LiteralHistogram(countBits: Int) extends Module {
  private val symbols = 256

  /** Not allowed while counts are being emitted. */
  val counted = IO(Flipped(Valid(new CountedLiterals)))

  /** Requests the counts, at least two cycles after the last literals. */
  val gather = IO(Input(Bool()))
  val count = IO(Valid(new SymbolCount(countBits)))

  /** Counts are being emitted. */
  val busy = IO(Output(Bool()))

  /** Literals that each memory has counted, and the literals whose counts are still to be emitted. */
  private val seen = Seq.fill(CountedLiterals.lanes)(RegInit(0.U(symbols.W)))
  private val left = RegInit(0.U(symbols.W))
  private val next = FirstSet(left)
  private val visiting = left.orR
  left := Mux(gather, seen.reduce(_ | _), Mux(visiting, next.rest, 0.U))

  // Finds the next literal, reads its counts, adds them.
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
