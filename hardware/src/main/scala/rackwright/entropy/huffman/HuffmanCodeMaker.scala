package rackwright.entropy.huffman

import chisel3._
import chisel3.util._

import rackwright.memory.Sram

/** The number of occurrences of a symbol. */
class SymbolCount(val countBits: Int, val symbolBits: Int = 8) extends Bundle {
  val symbol = UInt(symbolBits.W)
  val count = UInt(countBits.W)
}

/** The code word of a symbol, in the low `length` bits. */
class HuffmanWord(val mostBits: Int = HuffmanCodeMaker.mostBits) extends Bundle {
  val code = UInt(mostBits.W)
  val length = UInt(4.W)
}

/** A symbol with its code word. */
class HuffmanAssignment(val symbolBits: Int = 8, val mostBits: Int = HuffmanCodeMaker.mostBits) extends Bundle {
  val symbol = UInt(symbolBits.W)
  val word = new HuffmanWord(mostBits)
}

/** The order of the code words of a code, and the bit order of a word. */
sealed trait WordOrder
object WordOrder {

  /** The longest words have the lowest values; the last bit of a word is the lowest (RFC 8878, section 4.2.1.3). */
  case object LongestLowest extends WordOrder

  /** The shortest words have the lowest values; the first bit of a word is the lowest (RFC 1951, sections 3.1.1 and
    * 3.2.2).
    */
  case object ShortestLowest extends WordOrder
}

/** Properties of a complete code. */
class HuffmanSummary(countBits: Int, symbols: Int = 256) extends Bundle {

  /** Number of symbols that occur, and the last of them. */
  val used = UInt(log2Ceil(symbols + 1).W)
  val last = UInt(log2Ceil(symbols).W)
  val longest = UInt(4.W)

  /** Total size of all symbols in bits. */
  val bits = UInt((countBits + 4).W)
}

/** Builds a length-limited prefix code from symbol counts, without a tree.
  *
  * Each symbol first gets a length from its frequency, rounded up, with a reserve of code space for symbols whose
  * length is limited. Passes over the symbols then shorten words by one bit while code space is left, starting with
  * those that were rounded up most. A pass takes one symbol per cycle, and the last pass ends when no code space is
  * left; the code is then complete, since any code space left would suffice to shorten one of the longest words. Words
  * of the same length are consecutive in ascending order of symbols.
  *
  * @param countBits
  *   bits of a count.
  * @param symbols
  *   symbols that there are; few enough that words of `mostBits` bits for all of them leave most of the room.
  * @param mostBits
  *   the longest word.
  * @param order
  *   of words of different lengths.
  */
class HuffmanCodeMaker(
    countBits: Int,
    symbols: Int = 256,
    mostBits: Int = HuffmanCodeMaker.mostBits,
    order: WordOrder = WordOrder.LongestLowest
) extends Module {
  import HuffmanCodeMaker.State
  require(
    HuffmanCodeMaker.hasRoom(symbols, mostBits),
    s"$symbols symbols whose words have at most $mostBits bits: cut lengths of rare ones may leave no room for a code"
  )
  private val symbolBits = log2Ceil(symbols)
  private val usedBits = log2Ceil(symbols + 1)

  /** Starts a code. The counts of all symbols follow in ascending order. */
  val start = IO(Input(Bool()))
  val count = IO(Flipped(Valid(new SymbolCount(countBits, symbolBits))))

  /** All counts have been given. */
  val finish = IO(Input(Bool()))
  val word = IO(Valid(new HuffmanAssignment(symbolBits, mostBits)))
  val summary = IO(Output(new HuffmanSummary(countBits, symbols)))

  /** The code is complete; or fewer than two symbols occur, and there is no code. */
  val done = IO(Output(Bool()))

  private val state = RegInit(State.idle)
  private val used = Reg(UInt(usedBits.W))
  private val last = Reg(UInt(symbolBits.W))
  private val total = Reg(UInt(countBits.W))
  private val counts = Sram(symbols, new SymbolCount(countBits, symbolBits))
  private val lengths = Sram(symbols, UInt(4.W))

  // Collects the symbols that occur.
  when(count.valid && count.bits.count =/= 0.U) {
    counts.write(used(symbolBits - 1, 0), count.bits)
    used := used + 1.U
    last := count.bits.symbol
    total := total + count.bits.count
  }

  // A pass: one symbol after the other.
  private val passing = Seq(State.first, State.shorten, State.assign).map(state === _).reduce(_ || _)
  private val at = RegInit(0.U(usedBits.W))
  private val reading = passing && at =/= used
  private val entry = counts.read(at(symbolBits - 1, 0), reading)
  private val length = lengths.read(at(symbolBits - 1, 0), reading)
  when(reading) { at := at + 1.U }
  private val arrived = RegNext(reading, false.B)
  private val shifting = RegNext(arrived, false.B)
  private val found = RegEnable(entry, arrived)
  private val foundLength = RegEnable(length, arrived)
  private val foundAt = RegNext(RegNext(at(symbolBits - 1, 0)))
  private val deciding = RegNext(shifting, false.B)
  private val decidedAt = RegNext(foundAt)
  private val decidedSymbol = RegNext(found.symbol)
  private val decidedLength = RegNext(foundLength)
  private val ends = passing && at === used && !arrived && !shifting && !deciding && !RegNext(deciding, false.B)

  // Computes the initial lengths from the total count and the reserve.
  private val bound = Reg(UInt((countBits + 1).W))
  private val boundLog = RegEnable(Log2(bound), true.B)
  private val distance = boundLog - Log2(found.count)
  private val scaled = RegNext((found.count << distance)(countBits, 0))
  private val distanceNow = RegNext(distance)
  private val wanted = distanceNow +& (scaled < bound)
  private val firstLength = Mux(wanted > mostBits.U, mostBits.U, wanted)

  // Shortens words that were rounded up by more than the threshold, while code space is left.
  private val room = Reg(UInt((mostBits + 2).W))
  private val threshold = Reg(UInt((countBits + 2).W))
  private val step = (bound >> 3) + 1.U
  private val share = RegNext((found.count << foundLength)(countBits + mostBits - 1, 0))
  private val cost = RegNext((1.U << (mostBits.U - foundLength))(mostBits, 0))
  private val shortens = deciding && state === State.shorten && share >= threshold && cost <= room
  private val newLength = Mux(state === State.first, firstLength, decidedLength - shortens)
  when(deciding && (state === State.first || shortens)) { lengths.write(decidedAt, newLength) }
  when(shortens) { room := room - cost }
  private val firstCost = RegNext((1.U << (mostBits.U - firstLength))(mostBits, 0))
  private val entered = RegNext(deciding && state === State.first, false.B)
  when(entered) { room := room - firstCost }

  // Counts words by length, and the total size: starting with the initial lengths, one cycle after each is computed.
  private val ranks = Reg(Vec(mostBits + 1, UInt(usedBits.W)))
  private val bits = Reg(UInt((countBits + 4).W))
  private val shortened = RegNext(shortens, false.B)
  private val measuredLength = RegNext(newLength)
  private val measuredCount = RegNext(RegNext(found.count))
  for ((rank, length) <- ranks.zipWithIndex) {
    val more = (entered || shortened) && measuredLength === length.U
    val less = shortened && measuredLength === (length - 1).max(0).U && (length > 0).B
    rank := rank + more - less
  }
  private val product = RegNext((measuredCount * measuredLength)(countBits + 3, 0))
  when(RegNext(entered, false.B)) { bits := bits + product }
  when(shortened) { bits := bits - measuredCount }

  // Words of the same length are consecutive. If the shortest are lowest, they are stored with the first bit highest.
  private val shortestLowest = order == WordOrder.ShortestLowest
  private val words = Reg(Vec(mostBits + 1, UInt(mostBits.W)))
  private val lowest = Reg(UInt((mostBits + 1).W))
  private val rank = Reg(UInt(4.W))
  private def rankIndex = rank(log2Ceil(mostBits + 1) - 1, 0)
  word.valid := deciding && state === State.assign
  word.bits.symbol := decidedSymbol
  word.bits.word.length := decidedLength
  if (shortestLowest) {
    val behind = (1.U << (mostBits.U - decidedLength))(mostBits, 0)
    word.bits.word.code := Reverse(words(decidedLength))
    when(word.valid) { words(decidedLength) := words(decidedLength) + behind }
  } else {
    word.bits.word.code := words(decidedLength)
    when(word.valid) { words(decidedLength) := words(decidedLength) + 1.U }
  }

  summary.used := used
  summary.last := last
  summary.longest := RegNext(PriorityMux((mostBits to 1 by -1).map(n => (ranks(n) =/= 0.U || (n == 1).B) -> n.U(4.W))))
  summary.bits := bits
  done := state === State.end

  private def pass(next: State.Type): Unit = {
    at := 0.U
    state := next
  }
  switch(state) {
    is(State.idle) {
      when(start) {
        used := 0.U
        total := 0.U
        state := State.collect
      }
    }
    is(State.collect) {
      bound := total +& (total >> 3) + (total >> 5) + 1.U
      room := (1 << mostBits).U
      ranks.foreach(_ := 0.U)
      bits := 0.U
      when(finish) { state := Mux(used < 2.U, State.end, State.settle) }
    }
    is(State.settle) {
      threshold := (bound << 1) - step
      pass(State.first)
    }
    is(State.first) { when(ends) { pass(State.shorten) } }
    is(State.shorten) {
      rank := (if (shortestLowest) 1.U else mostBits.U)
      lowest := 0.U
      when(ends) {
        threshold := Mux(threshold > step, threshold - step, 0.U)
        pass(State.shorten)
      }
      when(room === 0.U) { state := State.starts }
    }
    is(State.starts) {
      if (shortestLowest) {
        words(rankIndex) := lowest
        lowest := lowest + (ranks(rankIndex) << (mostBits.U - rank))
        rank := rank + 1.U
        when(rank === mostBits.U) { pass(State.assign) }
      } else {
        words(rank) := lowest
        lowest := (lowest + ranks(rank)) >> 1
        rank := rank - 1.U
        when(rank === 1.U) { pass(State.assign) }
      }
    }
    is(State.assign) { when(ends) { state := State.end } }
    is(State.end) { state := State.idle }
  }
}

object HuffmanCodeMaker {

  /** The longest code word for literals (RFC 8878, section 4.2.1). */
  val mostBits: Int = 11

  /** Whether the initial lengths always leave code space. Symbols whose length is not limited take at most 32/37 of all
    * words of `mostBits` bits, each a power of two of at least two; every other symbol takes one.
    */
  def hasRoom(symbols: Int, mostBits: Int): Boolean = {
    val all = 1 << mostBits
    val shared = all * 32 / 37 + 1
    val uncut = (mostBits to 1 by -1).map(bit => shared & (1 << bit)).filter(_ != 0)
    uncut.indices.forall(k => uncut.take(k + 1).sum + symbols - (k + 1) <= all)
  }

  /** `settle` waits for the pipeline; `first`, `shorten` and `assign` are passes over all symbols that occur, `starts`
    * one over the lengths.
    */
  object State extends ChiselEnum {
    val idle, collect, settle, first, shorten, starts, assign, end = Value
  }
}
