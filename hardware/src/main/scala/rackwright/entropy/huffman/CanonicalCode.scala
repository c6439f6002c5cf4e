package rackwright.entropy.huffman

import chisel3._
import chisel3.util._

import rackwright.memory.Sram

/** A canonical Huffman code with the shortest codes lowest (RFC 1951, section 3.2.2): comparisons give the length of a
  * code, and an addition the index of its symbol.
  *
  * @param mostBits
  *   the longest code.
  * @param symbols
  *   symbols at most.
  */
class CanonicalCode(val mostBits: Int, val symbols: Int) extends Bundle {

  /** For each length from 1 on: the first value, of `mostBits` bits, above all codes of at most that length. */
  val limits = Vec(mostBits, UInt((mostBits + 1).W))

  /** For each length from 1 on: the offset from a code to the index of its symbol. */
  val places = Vec(mostBits, UInt(log2Ceil(symbols).W))

  /** The length of the code at the start of `value` (its first bit highest), one-hot; zero if there is no such code. */
  def lengthOf(value: UInt): UInt = {
    val below = limits.map(value < _)
    Cat(below.zipWithIndex.map { case (is, length) => is && (if (length == 0) true.B else !below(length - 1)) }.reverse)
  }

  /** The index of the symbol of that code. */
  def placeOf(value: UInt, length: UInt): UInt = {
    val bits = log2Ceil(symbols)
    val code = Mux1H(length.asBools, (1 to mostBits).map(n => (value >> (mostBits - n)).pad(bits)(bits - 1, 0)))
    code + Mux1H(length.asBools, places)
  }
}

/** A symbol and its index in the order of codes. */
class CanonicalPlace(symbols: Int) extends Bundle {
  val place = UInt(log2Ceil(symbols).W)
  val symbol = UInt(log2Ceil(symbols).W)
}

/** A symbol and the length of its code. */
class SymbolLength(mostBits: Int, symbols: Int) extends Bundle {
  val symbol = UInt(log2Ceil(symbols).W)
  val length = UInt(log2Ceil(mostBits + 1).W)
}

/** Builds a canonical code from code lengths (RFC 1951, section 3.2.2): reads one symbol per cycle, then computes one
  * code length per cycle, then assigns one symbol its index per cycle.
  *
  * @param mostBits
  *   the longest code.
  * @param symbols
  *   symbols at most.
  */
class CanonicalCodeBuilder(mostBits: Int, symbols: Int) extends Module {
  private val symbolBits = log2Ceil(symbols)
  private val countBits = log2Ceil(symbols + 1)

  /** Starts a code. Its symbols follow in ascending order, at most one in a cycle. */
  val start = IO(Input(Bool()))
  val length = IO(Flipped(Valid(new SymbolLength(mostBits, symbols))))

  /** All symbols have been given. */
  val finish = IO(Input(Bool()))
  val code = IO(Output(new CanonicalCode(mostBits, symbols)))
  val place = IO(Valid(new CanonicalPlace(symbols)))

  /** The code is complete; held until `start`. */
  val done = IO(Output(Bool()))

  /** Valid with `done`: the code is oversubscribed; it is incomplete; its only code has one bit; it has no code. */
  val oversubscribed = IO(Output(Bool()))
  val incomplete = IO(Output(Bool()))
  val single = IO(Output(Bool()))
  val empty = IO(Output(Bool()))

  private object State extends ChiselEnum {
    val idle, lengths, codes, places, last, end = Value
  }
  private val state = RegInit(State.idle)
  private val coded = Sram(symbols, new SymbolLength(mostBits, symbols))
  private val count = Reg(UInt(countBits.W))

  /** Number of codes of each length from 1 on, rotated by one in each cycle of `codes`. */
  private val counts = Reg(Vec(mostBits, UInt(countBits.W)))
  private val step = Reg(UInt(mostBits.W))
  private val table = Reg(new CanonicalCode(mostBits, symbols))
  private val positions = Reg(Vec(mostBits, UInt(symbolBits.W)))

  /** Width of the Kraft sum, with headroom to detect oversubscription. */
  private val sumBits = mostBits + symbolBits
  private val aligned = Reg(UInt(sumBits.W))
  private val first = Reg(UInt(sumBits.W))
  private val index = Reg(UInt(countBits.W))
  private val asked = Reg(UInt(countBits.W))
  private val onlyOne = Reg(Bool())

  when(length.valid) {
    coded.write(count(symbolBits - 1, 0), length.bits)
    count := count + 1.U
    for (n <- 1 to mostBits) when(length.bits.length === n.U) { counts(n - 1) := counts(n - 1) + 1.U }
  }

  private val current = counts.head
  private val upTo = aligned + Mux1H(step.asBools, (1 to mostBits).map(n => current << (mostBits - n)))
  private val isLast = step(mostBits - 1)
  switch(state) {
    is(State.lengths) {
      when(finish) {
        state := State.codes
        step := 1.U
        aligned := 0.U
        first := 0.U
        index := 0.U
        asked := 0.U
        onlyOne := counts.head === 1.U && counts.tail.map(_ === 0.U).reduce(_ && _)
      }
    }
    is(State.codes) {
      for (n <- 1 to mostBits) {
        when(step(n - 1)) {
          table.limits(n - 1) := upTo
          table.places(n - 1) := index - first
          positions(n - 1) := index
        }
      }
      counts := VecInit(counts.tail :+ current)
      aligned := upTo
      first := (first + current) << 1
      index := index + current
      step := step << 1
      when(isLast) { state := State.places }
    }
    is(State.places) {
      asked := asked + 1.U
      when(asked === count) { state := State.last }
    }
    is(State.last) { state := State.end }
  }

  // Reads lengths, buffers them, and assigns indices.
  private val asks = state === State.places && asked =/= count
  private val placing = RegNext(RegNext(asks, false.B), false.B)
  private val placed = RegNext(coded.read(asked(symbolBits - 1, 0), asks))
  private val which = (1 to mostBits).map(n => placed.length === n.U)
  place.valid := placing
  place.bits.place := Mux1H(which, positions)
  place.bits.symbol := placed.symbol
  for (n <- 0 until mostBits) when(placing && which(n)) { positions(n) := positions(n) + 1.U }

  when(start) {
    state := State.lengths
    count := 0.U
    counts.foreach(_ := 0.U)
  }
  private val whole = (1 << mostBits).U
  code := table
  done := state === State.end
  oversubscribed := aligned > whole
  incomplete := aligned < whole
  single := onlyOne
  empty := aligned === 0.U
}
