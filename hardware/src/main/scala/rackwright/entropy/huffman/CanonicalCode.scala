package rackwright.entropy.huffman

import chisel3._
import chisel3.util._

import rackwright.memory.RegisterFile

/** A Huffman code in canonical form, the shortest codes lowest (RFC 1951, section 3.2.2): a length follows from
  * comparisons, and a symbol's place among all symbols from its code.
  *
  * @param mostBits
  *   the longest code.
  * @param symbols
  *   symbols at most.
  */
class CanonicalCode(val mostBits: Int, val symbols: Int) extends Bundle {

  /** For each length from 1 on: the first value, of `mostBits` bits, above all codes of that length or a shorter one.
    */
  val limits = Vec(mostBits, UInt((mostBits + 1).W))

  /** For each length from 1 on: what is added to a code to get the place of its symbol. */
  val places = Vec(mostBits, UInt(log2Ceil(symbols).W))

  /** The length of the code that `value` (its first bit highest) begins with: a bit per length, none if there is none.
    */
  def lengthOf(value: UInt): UInt = {
    val below = limits.map(value < _)
    Cat(below.zipWithIndex.map { case (is, length) => is && (if (length == 0) true.B else !below(length - 1)) }.reverse)
  }

  /** The place of the symbol of that code. */
  def placeOf(value: UInt, length: UInt): UInt = {
    val bits = log2Ceil(symbols)
    val code = Mux1H(length.asBools, (1 to mostBits).map(n => (value >> (mostBits - n)).pad(bits)(bits - 1, 0)))
    code + Mux1H(length.asBools, places)
  }
}

/** A symbol and its place in the order of codes. */
class CanonicalPlace(symbols: Int) extends Bundle {
  val place = UInt(log2Ceil(symbols).W)
  val symbol = UInt(log2Ceil(symbols).W)
}

/** Makes a code from the lengths of its symbols' codes (RFC 1951, section 3.2.2): takes one length per cycle, then
  * works out one length of codes per cycle, then gives one symbol its place per cycle.
  *
  * @param mostBits
  *   the longest code.
  * @param symbols
  *   symbols at most.
  */
class CanonicalCodeBuilder(mostBits: Int, symbols: Int) extends Module {
  private val lengthBits = log2Ceil(mostBits + 1)
  private val symbolBits = log2Ceil(symbols)
  private val countBits = log2Ceil(symbols + 1)

  /** Lengths follow, one in a cycle at most, of symbols from 0 on. */
  val start = IO(Input(Bool()))
  val length = IO(Flipped(Valid(UInt(lengthBits.W))))

  /** No more lengths come. */
  val finish = IO(Input(Bool()))
  val code = IO(Output(new CanonicalCode(mostBits, symbols)))
  val place = IO(Valid(new CanonicalPlace(symbols)))

  /** All places were given; stays until `start`. */
  val done = IO(Output(Bool()))

  /** With `done`: there are more codes than bits allow; fewer. The only code has one bit; there is no code. */
  val oversubscribed = IO(Output(Bool()))
  val incomplete = IO(Output(Bool()))
  val single = IO(Output(Bool()))
  val empty = IO(Output(Bool()))

  private object State extends ChiselEnum {
    val idle, lengths, codes, places, last, end = Value
  }
  private val state = RegInit(State.idle)
  private val lengths = RegisterFile(symbols, UInt(lengthBits.W))
  private val count = Reg(UInt(countBits.W))

  /** How many codes have each length from 1 on; turned by one in each cycle of `codes`. */
  private val counts = Reg(Vec(mostBits, UInt(countBits.W)))
  private val step = Reg(UInt(mostBits.W))
  private val table = Reg(new CanonicalCode(mostBits, symbols))
  private val positions = Reg(Vec(mostBits, UInt(symbolBits.W)))

  /** Up to twice the codes that there may be, then more than that. */
  private val sumBits = mostBits + symbolBits
  private val aligned = Reg(UInt(sumBits.W))
  private val first = Reg(UInt(sumBits.W))
  private val index = Reg(UInt(countBits.W))
  private val symbol = Reg(UInt(countBits.W))
  private val onlyOne = Reg(Bool())

  when(length.valid) {
    lengths.write(count(symbolBits - 1, 0), length.bits)
    count := count + 1.U
    for (n <- 1 to mostBits) when(length.bits === n.U) { counts(n - 1) := counts(n - 1) + 1.U }
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
        symbol := 0.U
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
      symbol := symbol + 1.U
      when(symbol === count) { state := State.last }
    }
    is(State.last) { state := State.end }
  }

  private val placing = RegNext(state === State.places && symbol =/= count, false.B)
  private val placedLength = RegNext(lengths.read(symbol(symbolBits - 1, 0)))
  private val placedSymbol = RegNext(symbol(symbolBits - 1, 0))
  private val which = (1 to mostBits).map(n => placedLength === n.U)
  place.valid := placing && placedLength =/= 0.U
  place.bits.place := Mux1H(which, positions)
  place.bits.symbol := placedSymbol
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
