package rackwright.entropy.huffman

import chisel3._
import chisel3.util._

import rackwright.entropy.bits.FirstSet
import rackwright.memory.RegisterFile

/** A canonical Huffman code with the longest codes lowest: codes of the same length are adjacent, so that comparisons
  * give the length of a code, and an addition the index of its symbol (RFC 8878, section 4.2.1.3).
  */
class HuffmanCode extends Bundle {

  /** For each length from 1 on: the lowest code of at most that length, padded with zeros to the longest length. */
  val thresholds = Vec(HuffmanCode.mostBits, UInt((HuffmanCode.mostBits + 1).W))

  /** For each length from 1 on: the offset from a code to the index of its symbol. */
  val places = Vec(HuffmanCode.mostBits, UInt(8.W))
}

object HuffmanCode {

  /** The longest code that the reference library accepts; RFC 8878 allows 11 bits. */
  val mostBits: Int = 12

  val symbols: Int = 256
}

/** A symbol and its index in the order of codes. */
class HuffmanPlace extends Bundle {
  val place = UInt(8.W)
  val symbol = UInt(8.W)
}

/** Builds a code from weights (RFC 8878, section 4.2.1): reads one per cycle, derives the last one, then assigns each
  * symbol that occurs its index, one per cycle.
  */
class HuffmanTableBuilder extends Module {
  private val most = HuffmanCode.mostBits

  /** Starts a code. The weights of symbols from 0 on follow, at most one in a cycle and at most 255. */
  val start = IO(Input(Bool()))
  val weight = IO(Flipped(Valid(UInt(8.W))))

  /** All weights have been given. */
  val finish = IO(Input(Bool()))
  val code = IO(Output(new HuffmanCode))
  val place = IO(Valid(new HuffmanPlace))

  /** Complete: all indices have been assigned, or the weights are not those of a code. */
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

  /** Symbols that occur and have no index yet. */
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
      // There must be an even number of codes of the longest length, at least two.
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
