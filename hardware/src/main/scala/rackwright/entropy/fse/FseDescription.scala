package rackwright.entropy.fse

import chisel3._
import chisel3.util._

import rackwright.entropy.bits.BitString

/** Writes an FSE table description (RFC 8878, section 4.1.1). Probabilities of less than one are not supported. */
class FseDescription extends Module {
  import FseDescription.State

  /** Starts the description of a table with this accuracy log; the count of `symbol` is valid in the same cycle. */
  val start = IO(Flipped(Valid(UInt(FseTable.logBits.W))))
  val symbol = IO(Output(UInt(FseTable.symbolBits.W)))
  val count = IO(Input(UInt((FseTable.stateBits + 1).W)))
  val enable = IO(Input(Bool()))
  val bits = IO(Valid(new BitString(FseDescription.mostBits)))

  /** All bits have been output; the last byte is to be padded. */
  val done = IO(Output(Bool()))

  private val state = RegInit(State.idle)
  private val log = Reg(UInt(FseTable.logBits.W))
  private val at = Reg(UInt(FseTable.symbolBits.W))
  private val wanted = Reg(UInt((FseTable.stateBits + 1).W))

  /** One more than the remaining sum; the highest power of two not above it, and its bits. */
  private val left = Reg(UInt((FseTable.stateBits + 1).W))
  private val threshold = Reg(UInt((FseTable.stateBits + 1).W))
  private val width = Reg(UInt(FseTable.logBits.W))

  /** The previous count was zero: the number of further zeros is encoded in groups of three. */
  private val inRun = Reg(Bool())
  private val run = Reg(UInt(2.W))
  symbol := at

  private val value = wanted +& 1.U
  private val limit = Reg(UInt((FseTable.stateBits + 2).W))
  private val coded = Mux(value >= threshold, value + limit, value)
  bits.valid := false.B
  bits.bits.value := coded
  bits.bits.count := width - (coded < limit)
  done := state === State.end

  private def give(what: UInt, count: UInt): Unit = {
    bits.valid := true.B
    bits.bits.value := what
    bits.bits.count := count
  }
  switch(state) {
    is(State.idle) {
      log := start.bits
      at := 0.U
      inRun := false.B
      run := 0.U
      when(start.valid) { state := State.head }
    }
    is(State.head) {
      give(log - 5.U, 4.U)
      left := (1.U << log) + 1.U
      threshold := 1.U << log
      width := log + 1.U
      state := State.fetch
    }
    is(State.fetch) {
      wanted := count
      limit := (threshold << 1) - 1.U - left
      when(enable) {
        state := State.value
        when(inRun) {
          when(count === 0.U) {
            at := at + 1.U
            run := Mux(run === 2.U, 0.U, run + 1.U)
            when(run === 2.U) { give(3.U, 2.U) }
            state := State.fetch
          }.otherwise {
            give(run, 2.U)
            run := 0.U
          }
        }
      }
    }
    is(State.value) {
      bits.valid := true.B
      left := left - wanted
      inRun := wanted === 0.U
      at := at + 1.U
      state := State.narrow
    }
    is(State.narrow) {
      when(left < threshold) {
        threshold := threshold >> 1
        width := width - 1.U
      }.otherwise {
        state := Mux(left === 1.U, State.end, State.fetch)
      }
    }
    is(State.end) { state := State.idle }
  }
}

object FseDescription {

  /** The most bits emitted in a cycle. */
  val mostBits: Int = 16

  /** `narrow` lowers the power of two as the remaining sum shrinks. */
  object State extends ChiselEnum {
    val idle, head, fetch, value, narrow, end = Value
  }
}
