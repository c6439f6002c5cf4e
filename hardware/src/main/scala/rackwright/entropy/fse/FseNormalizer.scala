package rackwright.entropy.fse

import chisel3._
import chisel3.util._

import rackwright.memory.RegisterFile

/** Normalizes symbol counts to the distribution of an FSE table, whose sum is the size of the table: counts are
  * rounded, none that occurs becomes zero, and the largest absorbs the remainder.
  *
  * @param countBits
  *   bits of a count.
  */
class FseNormalizer(countBits: Int) extends Module {
  import FseNormalizer.{fraction, State}
  private val symbols = 1 << FseTable.symbolBits

  /** The sum of the counts, at least 32. The reciprocal is computed in some 30 cycles; tables may be started after
    * that.
    */
  val total = IO(Flipped(Valid(UInt(countBits.W))))

  /** Starts a table with this accuracy log; the requested count, and its value one cycle later. */
  val start = IO(Flipped(Decoupled(UInt(FseTable.logBits.W))))
  val symbol = IO(Output(UInt(FseTable.symbolBits.W)))
  val count = IO(Input(UInt(countBits.W)))

  /** Complete. The table is valid, or only one symbol occurs (the largest), or rounding left nothing for the largest.
    */
  val done = IO(Output(Bool()))
  val usable = IO(Output(Bool()))
  val single = IO(Output(Bool()))
  val largest = IO(Output(UInt(FseTable.symbolBits.W)))

  /** The normalized count of a symbol, valid until the next table is started. */
  val asked = IO(Input(UInt(FseTable.symbolBits.W)))
  val scaled = IO(Output(UInt((FseTable.stateBits + 1).W)))

  private val state = RegInit(State.idle)
  private val divisor = Reg(UInt(countBits.W))
  private val remainder = Reg(UInt((countBits + 1).W))
  private val reciprocal = Reg(UInt((fraction - 4).W))
  private val bit = Reg(UInt(log2Ceil(fraction + 1).W))
  private val log = Reg(UInt(FseTable.logBits.W))
  private val norms = RegisterFile(symbols, UInt((FseTable.stateBits + 1).W))

  start.ready := state === State.idle && !total.valid

  // A pass over the symbols: read, multiply in two parts, round.
  private val at = Reg(UInt((FseTable.symbolBits + 1).W))
  private val reading = state === State.scale && at =/= symbols.U
  symbol := at
  private val arrived = RegNext(reading, false.B)
  private val multiplying = RegNext(arrived, false.B)
  private val half = countBits / 2
  private val low = RegEnable(count(half - 1, 0) * reciprocal, arrived)
  private val high = RegEnable(count(countBits - 1, half) * reciprocal, arrived)
  private val occurs = RegNext(RegNext(count =/= 0.U))
  private val adding = RegNext(multiplying, false.B)
  private val product = RegEnable((low +& (high << half))(fraction, 0), multiplying)
  private val number = ShiftRegister(at(FseTable.symbolBits - 1, 0), 3)
  private val rounded = ((product >> (fraction.U - log - 1.U)) + 1.U)(FseTable.stateBits + 1, 1)
  private val norm = Mux(occurs && rounded === 0.U, 1.U, rounded)

  private val sum = Reg(UInt((FseTable.stateBits + 2).W))
  private val used = Reg(UInt((FseTable.symbolBits + 1).W))
  private val most = Reg(UInt((FseTable.stateBits + 1).W))
  private val mostSymbol = Reg(UInt(FseTable.symbolBits.W))
  when(adding) {
    norms.write(number, norm)
    sum := sum + norm
    used := used + occurs
    when(norm > most) {
      most := norm
      mostSymbol := number
    }
  }
  private val missing = RegNext((1.U << log).pad(FseTable.stateBits + 2).asSInt.pad(16) - sum.zext)
  private val corrected = RegNext(most.zext +& missing)
  private val enough = RegNext(corrected > (most >> 1).zext)

  done := state === State.end
  usable := enough
  single := used === 1.U
  largest := mostSymbol
  scaled := norms.read(asked)

  switch(state) {
    is(State.idle) {
      at := 0.U
      sum := 0.U
      used := 0.U
      most := 0.U
      when(total.valid) {
        divisor := total.bits
        remainder := 0.U
        reciprocal := 0.U
        bit := fraction.U
        state := State.divide
      }.elsewhen(start.valid) {
        log := start.bits
        state := State.scale
      }
    }
    is(State.divide) {
      // One bit of 2^fraction / divisor per cycle.
      val next = Cat(remainder(countBits - 1, 0), bit === fraction.U)
      val fits = next >= divisor
      remainder := Mux(fits, next - divisor, next)
      reciprocal := Cat(reciprocal, fits)
      bit := bit - 1.U
      when(bit === 0.U) { state := State.idle }
    }
    is(State.scale) {
      when(reading) { at := at + 1.U }
      when(!reading && !arrived && !multiplying && !adding) {
        at := 0.U
        state := State.correct
      }
    }
    is(State.correct) {
      at := at + 1.U
      when(at === 3.U) {
        norms.write(mostSymbol, corrected.asUInt)
        state := State.end
      }
    }
    is(State.end) { state := State.idle }
  }
}

object FseNormalizer {

  /** Fractional bits of the reciprocal. */
  val fraction: Int = 24

  /** `correct` adds the remainder to the largest count. */
  object State extends ChiselEnum {
    val idle, divide, scale, correct, end = Value
  }
}
