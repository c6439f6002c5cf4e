package rackwright.entropy.huffman

import chisel3._
import chisel3.util._

import rackwright.BlockTest

/** A code that is made, and a look at it: the length and the place of the code that some bits begin with. */
class CodeAndLookup(mostBits: Int, symbols: Int) extends Module {
  val builder = Module(new CanonicalCodeBuilder(mostBits, symbols))
  val start = IO(Input(Bool()))
  val length = IO(Flipped(Valid(new SymbolLength(mostBits, symbols))))
  val finish = IO(Input(Bool()))
  val place = IO(Valid(new CanonicalPlace(symbols)))
  val done = IO(Output(Bool()))
  val faults = IO(Output(UInt(2.W)))
  val bits = IO(Input(UInt(mostBits.W)))
  val foundLength = IO(Output(UInt(mostBits.W)))
  val foundPlace = IO(Output(UInt(log2Ceil(symbols).W)))

  builder.start := start
  builder.length := length
  builder.finish := finish
  place := builder.place
  done := builder.done
  faults := builder.oversubscribed ## builder.incomplete
  foundLength := builder.code.lengthOf(bits)
  foundPlace := builder.code.placeOf(bits, foundLength)
}

/** Codes against the algorithm of RFC 1951, section 3.2.2. */
class CanonicalCodeTest extends BlockTest {
  private val mostBits = 7
  private val symbols = 19
  private val whole = 1 << mostBits

  /** Symbols by length, then by number. */
  private def order(lengths: Seq[Int]): Seq[Int] =
    lengths.indices.filter(lengths(_) > 0).sortBy(symbol => (lengths(symbol), symbol))

  /** The code of each symbol in that order, as bits that begin with it. */
  private def codes(lengths: Seq[Int]): Seq[Int] =
    order(lengths).scanLeft(0)((code, symbol) => code + (1 << (mostBits - lengths(symbol)))).init

  private def build(dut: CodeAndLookup, lengths: Seq[Int]): Map[Int, Int] = {
    dut.start.poke(true)
    dut.finish.poke(false)
    dut.length.valid.poke(false)
    dut.clock.step()
    dut.start.poke(false)
    dut.length.valid.poke(true)
    for ((length, symbol) <- lengths.zipWithIndex if length > 0) {
      dut.length.bits.symbol.poke(symbol)
      dut.length.bits.length.poke(length)
      dut.clock.step()
    }
    dut.length.valid.poke(false)
    dut.finish.poke(true)
    dut.clock.step()
    dut.finish.poke(false)
    var places = Map.empty[Int, Int]
    await(dut.clock, holds(dut.done), 200) {
      if (holds(dut.place.valid)) places += number(dut.place.bits.place) -> number(dut.place.bits.symbol)
    }
    places
  }

  test("symbols get the places of the RFC, and their codes are found") {
    val random = seeded(3)
    block(new CodeAndLookup(mostBits, symbols)) { dut =>
      for (_ <- 0 until 40) {
        // Few short codes, so that most of these are codes.
        val lengths = Seq.fill(symbols)(mostBits - random.nextInt(12) % (mostBits + 1))
        val places = build(dut, lengths)
        val sum = lengths.filter(_ > 0).map(length => 1 << (mostBits - length)).sum
        assert(number(dut.faults) == (if (sum > whole) 2 else if (sum < whole) 1 else 0))
        if (sum <= whole) {
          assert(places == order(lengths).zipWithIndex.map(_.swap).toMap)
          for ((code, place) <- codes(lengths).zipWithIndex) {
            dut.bits.poke(code)
            assert(number(dut.foundLength) == 1 << (lengths(order(lengths)(place)) - 1))
            assert(number(dut.foundPlace) == place)
          }
        }
      }
    }
  }
}
