package rackwright.zstd.encode

import chisel3._
import chisel3.util._

import rackwright.entropy.bits.BitString
import rackwright.entropy.fse.{FseDescription, FseEncodeTable, FseNormalizer, FseTable}

/** Writes a Huffman tree description with FSE-compressed weights (RFC 8878, section 4.2.1.2), without the last weight,
  * for codes whose symbols are beyond the range of [[HuffmanDescription]]. Two interleaved states encode even and odd
  * symbols; the first state encodes the even ones.
  */
class HuffmanWeightCoder extends Module {
  import HuffmanWeightCoder._
  private val states = 2

  /** Builds the FSE table; the last symbol of the code, at least 32. */
  val prepare = IO(Input(Bool()))
  val last = IO(Input(UInt(8.W)))
  val ready = IO(Output(Bool()))

  /** Valid with `ready`: the weights can be compressed, which is impossible if all are equal. */
  val usable = IO(Output(Bool()))

  /** Emits the description without its first byte, which holds its size. */
  val start = IO(Input(Bool()))
  val enable = IO(Input(Bool()))

  /** Same contract as the port of [[HuffmanWeights]]. */
  val symbol = IO(Valid(UInt(8.W)))
  val weight = IO(Input(UInt(4.W)))
  val bits = IO(Valid(new BitString(FseDescription.mostBits)))
  val align = IO(Output(Bool()))
  val done = IO(Output(Bool()))

  private val state = RegInit(State.idle)
  private val counts = Reg(Vec(weights, UInt(8.W)))
  private val left = Reg(UInt(8.W))
  private val pause = RegInit(false.B)
  private val number = Reg(UInt(FseTable.symbolBits.W))

  /** The table is being loaded. A flag beside the state, since a long path depends on which count is requested. */
  private val feeding = RegInit(false.B)

  // Weights are read from the last to the first: first to count them, later to encode one in every second cycle.
  private val counting = state === State.count
  private val coding = state === State.code
  private val issue = left =/= 0.U && (counting || (coding && enable && !pause))
  pause := issue
  symbol.valid := issue
  symbol.bits := left - 1.U
  when(issue) { left := left - 1.U }
  private val arrived = RegNext(issue, false.B)
  private val weighing = RegNext(arrived, false.B)
  private val odd = RegNext(RegNext(symbol.bits(0)))
  when(weighing && counting) { counts(weight) := counts(weight) + 1.U }
  private val quiet = left === 0.U && !arrived && !weighing

  // The table.
  private val normalizer = Module(new FseNormalizer(8))
  private val table = Module(new FseEncodeTable)
  private val writer = Module(new FseDescription)
  normalizer.total.valid := state === State.divide
  normalizer.total.bits := last
  normalizer.start.valid := state === State.scale
  normalizer.start.bits := log.U
  normalizer.count := RegNext(VecInit(counts.padTo(1 << FseTable.symbolBits, 0.U(8.W)))(normalizer.symbol))
  normalizer.asked := Mux(feeding, number, writer.symbol)
  table.start.valid := state === State.begin
  table.start.bits := log.U
  table.count.valid := feeding && normalizer.scaled =/= 0.U
  table.count.bits.symbol := number
  table.count.bits.low := false.B
  table.count.bits.count := normalizer.scaled
  table.build := state === State.build
  writer.start.valid := state === State.ready && start
  writer.start.bits := log.U
  writer.count := normalizer.scaled
  writer.enable := enable

  // Encodes weights.
  table.symbol.valid := weighing && coding
  table.symbol.bits := weight
  private val turning = RegNext(RegNext(weighing && coding, false.B), false.B)
  private val which = RegNext(RegNext(odd))
  private val current = Reg(Vec(states, UInt((FseTable.stateBits + 1).W)))
  private val fresh = Reg(Vec(states, Bool()))
  private val step = SequenceEncoder.step(table.transition, current(which), fresh(which))
  table.place.valid := turning
  table.place.bits := step.place
  private val settling = RegNext(turning, false.B)
  private val settled = RegNext(which)
  private val gives = RegNext(turning && !fresh(which), false.B)
  private val before = RegEnable(current(which), turning)
  private val beforeCount = RegEnable(step.bits, turning)
  when(turning) { fresh(which) := false.B }
  when(settling) { current(settled) := table.state }
  private val empty = quiet && !turning && !settling && !RegNext(weighing, false.B)
  private val flush = state === State.flush

  bits.valid := writer.bits.valid || gives || flush
  bits.bits := writer.bits.bits
  when(gives) {
    bits.bits.value := before
    bits.bits.count := beforeCount
  }
  when(flush) {
    bits.bits.value := Cat(1.U(1.W), current(0)(log - 1, 0), current(1)(log - 1, 0))
    bits.bits.count := (2 * log + 1).U
  }
  align := state === State.closeTable || state === State.close
  ready := state === State.ready
  usable := normalizer.usable && !normalizer.single
  done := state === State.end

  switch(state) {
    is(State.idle) {
      left := last
      counts.foreach(_ := 0.U)
      when(prepare) { state := State.count }
    }
    is(State.count) { when(quiet) { state := State.divide } }
    is(State.divide) { state := State.scale }
    is(State.scale) { when(normalizer.start.ready) { state := State.scaling } }
    is(State.scaling) { when(normalizer.done) { state := State.begin } }
    is(State.begin) {
      number := 0.U
      feeding := usable
      state := Mux(usable, State.feed, State.ready)
    }
    is(State.feed) {
      number := number + 1.U
      when(number === (weights - 1).U) {
        feeding := false.B
        state := State.build
      }
    }
    is(State.build) { state := State.building }
    is(State.building) { when(!table.busy) { state := State.ready } }
    is(State.ready) {
      left := last
      fresh.foreach(_ := true.B)
      when(start) { state := State.describe }
      // A new code arrives although the previous one was not described.
      when(prepare) {
        counts.foreach(_ := 0.U)
        state := State.count
      }
    }
    is(State.describe) { when(writer.done) { state := State.closeTable } }
    is(State.closeTable) { state := State.code }
    is(State.code) { when(empty) { state := State.flush } }
    is(State.flush) { state := State.close }
    is(State.close) { state := State.end }
    is(State.end) { state := State.idle }
  }
}

object HuffmanWeightCoder {

  /** Number of distinct weights: 0 to 11. */
  val weights: Int = HuffmanEncoder.mostBits + 1

  /** The largest accuracy log that the format allows for weights. */
  val log: Int = 6

  /** The weights are counted, the table is built and described, the weights are encoded. */
  object State extends ChiselEnum {
    val idle, count, divide, scale, scaling, begin, feed, build, building, ready, describe, closeTable, code, flush,
        close, end = Value
  }
}
