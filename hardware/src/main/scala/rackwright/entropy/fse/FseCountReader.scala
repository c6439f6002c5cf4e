package rackwright.entropy.fse

import chisel3._
import chisel3.util._

/** Limits of an FSE table description. */
class FseCountOrder extends Bundle {

  /** The largest accuracy and the largest symbol allowed. */
  val mostLog = UInt(FseTable.logBits.W)
  val mostSymbol = UInt(FseTable.symbolBits.W)
}

/** Parses an FSE table description (RFC 8878, section 4.1.1), one symbol every four cycles. Its input is a window of
  * bytes; it outputs the number of consumed ones.
  */
class FseCountReader extends Module {
  private val windowBits = 32
  private val remainingBits = FseTable.stateBits + 2

  /** A description starts at the next byte. */
  val start = IO(Flipped(Valid(new FseCountOrder)))

  /** Abandons the description. */
  val clear = IO(Input(Bool()))

  /** The next four bytes, the first one lowest; valid with `there`. */
  val window = IO(Input(UInt(windowBits.W)))
  val there = IO(Input(Bool()))

  /** Number of bytes to consume. */
  val consume = IO(Output(UInt(2.W)))

  /** Interface to the table builder. */
  val log = IO(Valid(UInt(FseTable.logBits.W)))
  val count = IO(Valid(new FseCount))

  /** The description is complete, and all its bytes have been consumed. */
  val done = IO(Output(Bool()))

  /** The description is invalid. */
  val wrong = IO(Output(Bool()))

  private object State extends ChiselEnum {
    val idle, log, read, decide, update, repeats, ending = Value
  }
  private val state = RegInit(State.idle)
  private val order = Reg(new FseCountOrder)
  private val bit = RegInit(0.U(3.W))
  private val remaining = Reg(UInt(remainingBits.W))
  private val threshold = Reg(UInt((FseTable.stateBits + 1).W))
  private val width = Reg(UInt(FseTable.logBits.W))
  private val symbol = Reg(UInt((FseTable.symbolBits + 2).W))
  private val fresh = Reg(UInt(16.W))
  private val failed = RegInit(false.B)
  private val shifted = (window >> bit)(15, 0)

  consume := 0.U
  log.valid := false.B
  log.bits := shifted(3, 0) + 5.U
  count.valid := false.B
  done := false.B
  wrong := failed

  /** Bits are consumed; `total` includes the consumed ones of the byte in which they begin. */
  private def passTo(total: UInt): Unit = {
    consume := total >> 3
    bit := total
  }
  private def pass(count: UInt): Unit = passTo(bit +& count)

  private def fail(): Unit = {
    failed := true.B
    state := State.idle
  }

  // Values below `max` take one bit less.
  private val max = Reg(UInt(remainingBits.W))
  private val low = Reg(UInt(FseTable.stateBits.W))
  private val high = fresh & ((threshold << 1) - 1.U)
  private val short = low < max
  private val value = Mux(short, low, Mux(high >= threshold, high - max, high))

  // The end of a value of either width, computed before the width is known.
  private val shortEnd = Reg(UInt((FseTable.logBits + 1).W))
  private val longEnd = Reg(UInt((FseTable.logBits + 1).W))
  private val number = Reg(UInt((FseTable.stateBits + 2).W))
  count.bits.symbol := symbol
  count.bits.low := number === 0.U
  count.bits.count := number - 1.U
  private val spent = Mux(number === 0.U, 1.U, number - 1.U)

  switch(state) {
    is(State.log) {
      when(there) {
        val accuracy = shifted(3, 0) +& 5.U
        log.valid := true.B
        remaining := (1.U << accuracy) + 1.U
        threshold := 1.U << accuracy
        width := accuracy + 1.U
        symbol := 0.U
        pass(4.U)
        state := State.read
        when(accuracy > order.mostLog) { fail() }
      }
    }
    is(State.read) {
      when(threshold > remaining) {
        threshold := threshold >> 1
        width := width - 1.U
      }.elsewhen(there) {
        fresh := shifted
        low := shifted & (threshold - 1.U)
        shortEnd := bit +& (width - 1.U)
        longEnd := bit +& width
        max := (threshold << 1) - 1.U - remaining
        state := State.decide
      }
    }
    is(State.decide) {
      number := value
      passTo(Mux(short, shortEnd, longEnd))
      state := State.update
    }
    is(State.update) {
      count.valid := number =/= 1.U
      symbol := symbol + 1.U
      remaining := remaining - spent
      state := Mux(remaining - spent === 1.U, State.ending, Mux(number === 1.U, State.repeats, State.read))
      when(symbol > order.mostSymbol || spent >= remaining) { fail() }
    }
    is(State.repeats) {
      when(there) {
        val more = shifted(1, 0)
        symbol := symbol + more
        pass(2.U)
        when(more =/= 3.U) { state := State.read }
        when(symbol > order.mostSymbol) { fail() }
      }
    }
    is(State.ending) {
      consume := bit =/= 0.U
      bit := 0.U
      done := true.B
      state := State.idle
    }
  }
  when(start.valid) {
    order := start.bits
    bit := 0.U
    failed := false.B
    state := State.log
  }
  when(clear) {
    failed := false.B
    state := State.idle
  }
}
