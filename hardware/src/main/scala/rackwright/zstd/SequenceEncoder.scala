package rackwright.zstd

import chisel3._
import chisel3.util._

import rackwright.entropy.{BitString, FseTable, FseTransition}

/** Writes the bits of a block's sequences, from the last one to the first (RFC 8878, section 3.1.1.3.2.1): a sequence
  * every second cycle.
  *
  * A sequence is read, its codes are looked up, then comes the loop: from the states to the places of the next ones,
  * and to those. Behind it bits are put side by side: those of the states in one cycle, the extra bits in the next.
  */
class SequenceEncoder(params: ZstdCompressorParams) extends Module {
  import SequenceEncoder.{kinds, State}

  /** Begins: how many sequences, at least one, in which half of the store. */
  val start = IO(Flipped(Valid(new Bundle {
    val count = UInt(params.sequenceBits.W)
    val half = Bool()
  })))
  val enable = IO(Input(Bool()))

  /** A place in the store and its sequence two cycles later. */
  val read = IO(Valid(UInt((log2Ceil(params.sequencesMost) + 1).W)))
  val sequence = IO(Input(new CodedSequence))

  /** The tables of the kinds of [[SequenceCodes]], and their accuracies. */
  val tables = IO(Vec(kinds, Flipped(new EncodeTablePort)))
  val logs = IO(Input(Vec(kinds, UInt(FseTable.logBits.W))))
  val bits = IO(Valid(new BitString(SequenceEncoder.mostBits)))

  /** All bits have been given. */
  val done = IO(Output(Bool()))

  private val state = RegInit(State.idle)
  private val left = Reg(UInt(params.sequenceBits.W))
  private val half = Reg(Bool())
  private val pause = RegInit(false.B)
  private val issue = state === State.running && enable && !pause
  read.valid := issue
  read.bits := Cat(half, (left - 1.U)(log2Ceil(params.sequencesMost) - 1, 0))
  pause := issue
  when(issue) {
    left := left - 1.U
    when(left === 1.U) { state := State.emptying }
  }
  private val first = RegInit(false.B)
  when(start.valid) {
    left := start.bits.count
    half := start.bits.half
    first := true.B
    state := State.running
  }

  // Looked up.
  private val arrived = RegNext(RegNext(issue, false.B), false.B)
  private val codes = Seq(sequence.literalsCode, sequence.offsetCode, sequence.matchCode)
  for ((table, code) <- tables.zip(codes)) {
    table.symbol.valid := arrived
    table.symbol.bits := code
  }
  private val looking = RegNext(arrived, false.B)
  private val looked = RegEnable(sequence, arrived)

  // The loop.
  private val turning = RegNext(looking, false.B)
  private val turned = RegEnable(looked, looking)
  private val settling = RegNext(turning, false.B)
  private val states = Reg(Vec(kinds, UInt((FseTable.stateBits + 1).W)))
  private val steps = tables.zip(states).map { case (table, state) =>
    SequenceEncoder.step(table.transition, state, first)
  }
  for (((table, state), step) <- tables.zip(states).zip(steps)) {
    table.place.valid := turning
    table.place.bits := step.place
    when(settling) { state := table.state }
  }
  when(turning) { first := false.B }

  // Side by side: those of the states, then the extra ones.
  private val statesDue = RegNext(turning && !first, false.B)
  private val extraDue = RegNext(RegNext(turning, false.B), false.B)
  private val counts = steps.map(step => RegEnable(step.bits, turning))
  private val values = states.zip(counts).map { case (state, count) =>
    SequenceEncoder.low(RegEnable(state, turning), count)
  }
  private val stateBits = SequenceEncoder.join(Seq(1, 2, 0).map(i => (values(i), counts(i))))
  private val extras = RegEnable(turned, turning)
  private val extraCounts = Seq(
    RegNext(SequenceCodes.extraBits(SequenceCodes.literals, extras.literalsCode)),
    RegNext(SequenceCodes.extraBits(SequenceCodes.matched, extras.matchCode)),
    RegNext(SequenceCodes.extraBits(SequenceCodes.offset, extras.offsetCode))
  )
  private val extraNumbers = Seq(extras.literals, extras.matched, extras.offset).map(RegEnable(_, true.B))
  private val extraBits = SequenceEncoder.join(extraNumbers.zip(extraCounts).map { case (value, count) =>
    (SequenceEncoder.low(value, count), count)
  })

  // At the end the states themselves, and the mark.
  private val quiet = !arrived && !looking && !turning && !settling && !statesDue && !extraDue &&
    !RegNext(issue, false.B)
  private val flushing = state === State.emptying && quiet
  private val flushed = RegNext(flushing, false.B)
  private val finals = SequenceEncoder.join(
    Seq(2, 1, 0).map(i => (SequenceEncoder.low(states(i), logs(i)), logs(i))) :+ ((1.U(1.W), 1.U(1.W)))
  )
  when(flushing) { state := State.idle }
  private val output = Wire(Valid(new BitString(SequenceEncoder.mostBits)))
  output.valid := statesDue || extraDue || flushing
  output.bits := Mux(extraDue, extraBits, Mux(statesDue, stateBits, finals))
  bits.valid := RegNext(output.valid, false.B)
  bits.bits := RegNext(output.bits)
  done := RegNext(flushed, false.B)
}

/** The side of an [[FseEncodeTable]] that looks up. */
class EncodeTablePort extends Bundle {
  val symbol = Flipped(Valid(UInt(FseTable.symbolBits.W)))
  val transition = Output(new FseTransition)
  val place = Flipped(Valid(UInt(FseTable.stateBits.W)))
  val state = Output(UInt((FseTable.stateBits + 1).W))
}

/** Pure parts of a [[SequenceEncoder]]. */
object SequenceEncoder {
  val kinds: Int = 3

  /** Three extra numbers of 16 bits each. */
  val mostBits: Int = 48

  /** `emptying` waits for the last sequence to leave the loop. */
  object State extends ChiselEnum {
    val idle, running, emptying = Value
  }

  /** How many bits of a state leave, and where the next state stands. */
  class Step extends Bundle {
    val bits = UInt(FseTable.logBits.W)
    val place = UInt(FseTable.stateBits.W)
  }

  /** One turn of the loop. The `first` symbol coded has no state before it: the least one that it may follow is as good
    * as any, and its bits are not needed.
    */
  def step(transition: FseTransition, state: UInt, first: Bool): Step = {
    val from = Mux(first, transition.least, state)
    val result = Wire(new Step)
    result.bits := transition.bits - (from < transition.least)
    result.place := ((from >> result.bits).zext + transition.offset).asUInt
    result
  }

  /** The low `count` bits of `value`. */
  def low(value: UInt, count: UInt): UInt =
    value & VecInit.tabulate(value.getWidth)(i => count > i.U).asUInt

  /** Strings one behind the other, the first one lowest; bits above the count of each are zero. */
  def join(parts: Seq[(UInt, UInt)]): BitString = {
    val result = Wire(new BitString(mostBits))
    val ends = parts.map(_._2).scanLeft(0.U(6.W): UInt)((sum, count) => sum +& count)
    result.value := parts.zip(ends).map { case ((value, _), at) => (value << at)(mostBits.max(value.getWidth) - 1, 0) }
      .reduce(_ | _)
    result.count := ends.last
    result
  }
}
