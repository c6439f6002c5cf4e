package rackwright.entropy.huffman

import chisel3._
import chisel3.util._

import rackwright.entropy.bits.FirstSet
import rackwright.memory.RegisterFile

/** A Huffman code in canonical form: the codes of one length are neighbours, the longest codes lowest, so that a length
  * follows from comparisons, and a symbol's place among all symbols from its code (RFC 8878, section 4.2.1.3).
  */
class HuffmanCode extends Bundle {

  /** For each length from 1 on: the lowest code of that length or a shorter one, followed by zeros up to the longest
    * length.
    */
  val thresholds = Vec(HuffmanCode.mostBits, UInt((HuffmanCode.mostBits + 1).W))

  /** For each length from 1 on: what is added to a code to get the place of its symbol. */
  val places = Vec(HuffmanCode.mostBits, UInt(8.W))
}

object HuffmanCode {

  /** The longest code that the reference library takes; RFC 8878 says 11. */
  val mostBits: Int = 12

  val symbols: Int = 256
}

/** A symbol and its place in the order of codes. */
class HuffmanPlace extends Bundle {
  val place = UInt(8.W)
  val symbol = UInt(8.W)
}

/** Makes a code from weights (RFC 8878, section 4.2.1): takes one per cycle, the last one follows from the others, then
  * each symbol that occurs gets its place, one per cycle.
  */
class HuffmanTableBuilder extends Module {
  private val most = HuffmanCode.mostBits

  /** Weights follow, one in a cycle at most, of symbols from 0 on; at most 255 of them. */
  val start = IO(Input(Bool()))
  val weight = IO(Flipped(Valid(UInt(8.W))))

  /** No more weights come. */
  val finish = IO(Input(Bool()))
  val code = IO(Output(new HuffmanCode))
  val place = IO(Valid(new HuffmanPlace))

  /** It ended: all places were given, or the weights are not those of a code. */
  val done = IO(Output(Bool()))
  val wrong = IO(Output(Bool()))

  private object State extends ChiselEnum {
    val idle, weights, sum, rest, last, starts, check, places, end, failed = Value
  }
  private val state = RegInit(State.idle)
  private val weights = RegisterFile(HuffmanCode.symbols, UInt(4.W))
  private val count = Reg(UInt(9.W))
  private val ranks = Reg(Vec(most + 1, UInt(9.W)))
  private val total = Reg(UInt(20.W))
  private val bits = Reg(UInt(4.W))
  private val rest = Reg(UInt(13.W))
  private val table = Reg(new HuffmanCode)
  private val positions = Reg(Vec(most + 1, UInt(8.W)))
  private val length = Reg(UInt(4.W))
  private val rank = Reg(UInt(4.W))
  private val aligned = Reg(UInt((most + 1).W))
  private val index = Reg(UInt(9.W))

  /** Symbols that occur and have no place yet. */
  private val unplaced = Reg(UInt(HuffmanCode.symbols.W))
  private val first = FirstSet(unplaced)
  private val tooLarge = Reg(Bool())

  private def add(value: UInt): Unit = {
    weights.write(count(7, 0), value)
    when(value =/= 0.U) { unplaced := unplaced | UIntToOH(count(7, 0), HuffmanCode.symbols) }
    ranks.zipWithIndex.foreach { case (rank, weight) => when(value === weight.U) { rank := rank + 1.U } }
    count := count + 1.U
  }

  switch(state) {
    is(State.weights) {
      when(weight.valid) {
        add(weight.bits(3, 0))
        when(weight.bits > most.U) { tooLarge := true.B }
        when(weight.bits =/= 0.U) { total := total + (1.U << (weight.bits(3, 0) - 1.U)) }
      }.elsewhen(finish) {
        state := State.sum
      }
    }
    is(State.sum) {
      bits := Log2(total) + 1.U
      state := Mux(tooLarge || total === 0.U || (total >> most).orR, State.failed, State.rest)
    }
    is(State.rest) {
      rest := (1.U << bits) - total
      state := State.last
    }
    is(State.last) {
      when(PopCount(rest) === 1.U) {
        add(Log2(rest) + 1.U)
        state := State.starts
      }.otherwise {
        state := State.failed
      }
      length := bits
      rank := 1.U
      aligned := 0.U
      index := 0.U
      table.thresholds.foreach(_ := 0.U)
    }
    is(State.starts) {
      table.thresholds(length - 1.U) := aligned
      table.places(length - 1.U) := index - (aligned >> (most.U - length))
      positions(rank) := index
      aligned := aligned + (ranks(rank) << (most.U - length))
      index := index + ranks(rank)
      length := length - 1.U
      rank := rank + 1.U
      when(length === 1.U) { state := State.check }
    }
    is(State.check) {
      // Codes of the longest length come in pairs.
      state := Mux(ranks(1) < 2.U || ranks(1)(0), State.failed, State.places)
    }
    is(State.places) {
      unplaced := first.rest
      when(!unplaced.orR) { state := State.end }
    }
    is(State.end) { state := State.idle }
  }

  private val finding = RegNext(state === State.places && unplaced.orR, false.B)
  private val foundSymbol = RegNext(first.place)
  private val placing = RegNext(finding, false.B)
  private val placedWeight = RegNext(weights.read(foundSymbol))
  private val placedSymbol = RegNext(foundSymbol)
  place.valid := placing
  place.bits.place := positions(placedWeight)
  place.bits.symbol := placedSymbol
  when(place.valid) { positions(placedWeight) := positions(placedWeight) + 1.U }

  when(start) {
    state := State.weights
    count := 0.U
    total := 0.U
    tooLarge := false.B
    unplaced := 0.U
    ranks.foreach(_ := 0.U)
  }
  code := table
  done := state === State.end
  wrong := state === State.failed
}
