package rackwright.entropy.fse

import chisel3._
import chisel3.util._

import rackwright.entropy.bits.BitSource

/** Decodes FSE-compressed weights of a Huffman code, with two interleaved states (RFC 8878, section 4.2.1.2), one
  * weight per cycle.
  */
class FseWeights extends Module {

  /** States of the table, whose accuracy log is at most 6. */
  private val states = 1 << FseWeights.mostLog
  val write = IO(Flipped(Valid(new FseWrite)))

  /** The table with this accuracy log has been written, and the stream follows. */
  val start = IO(Flipped(Valid(UInt(FseTable.logBits.W))))
  val clear = IO(Input(Bool()))
  val source = IO(Flipped(new BitSource(FseWeights.shown)))
  val weight = IO(Valid(UInt(8.W)))

  /** All weights have been decoded. */
  val done = IO(Output(Bool()))
  val wrong = IO(Output(Bool()))
  val busy = IO(Output(Bool()))

  private object State extends ChiselEnum {
    val idle, open, begin, beginOther, read, end = Value
  }
  private val state = RegInit(State.idle)
  private val failed = RegInit(false.B)
  private val log = Reg(UInt(FseTable.logBits.W))
  private val table = Reg(Vec(states, new FseEntry))
  private val now = Reg(UInt(FseWeights.mostLog.W))
  private val other = Reg(UInt(FseWeights.mostLog.W))
  private val count = Reg(UInt(9.W))
  when(write.valid) { table(write.bits.state(FseWeights.mostLog - 1, 0)) := write.bits.entry }

  private val enough = source.open && source.count >= FseWeights.shown.U

  /** The entry of state `now`, which is read one cycle ahead: `other` becomes `now` when a weight is emitted. */
  private val turn = WireDefault(false.B)
  private val entry = RegNext(Mux(turn, table(other), table(now)))
  source.take := false.B
  source.bits := log
  weight.valid := false.B
  weight.bits := entry.symbol
  done := state === State.end
  wrong := failed
  busy := state =/= State.idle
  private def bits(count: UInt): UInt = source.number(0, count, FseWeights.shown)

  switch(state) {
    is(State.open) {
      count := 0.U
      when(enough) {
        now := bits(log)
        source.take := true.B
        state := State.begin
      }
    }
    is(State.begin) {
      when(enough) {
        other := bits(log)
        source.take := true.B
        state := State.beginOther
      }
    }
    is(State.beginOther) {
      state := State.read
      when(source.left < 0.S) {
        failed := true.B
        state := State.idle
      }
    }
    is(State.read) {
      when(source.left < 0.S) {
        weight.valid := true.B
        state := State.end
      }.elsewhen(enough) {
        turn := true.B
        weight.valid := true.B
        count := count + 1.U
        source.take := true.B
        source.bits := entry.bits
        now := other
        other := entry.base + bits(entry.bits)
        // Space for two more is required, as in the reference library.
        when(count > (FseWeights.most - 2).U) {
          failed := true.B
          state := State.idle
        }
      }
    }
    is(State.end) { state := State.idle }
  }
  when(start.valid) {
    log := start.bits
    failed := false.B
    state := State.open
  }
  when(clear) {
    failed := false.B
    state := State.idle
  }
}

/** Constants of the format. */
object FseWeights {

  /** The largest accuracy log of weights (RFC 8878, section 4.2.1.2). */
  val mostLog: Int = 6

  /** The most weights; the last weight of a code is implicit. */
  val most: Int = 255

  /** Number of bits visible at once. */
  val shown: Int = 6
}
