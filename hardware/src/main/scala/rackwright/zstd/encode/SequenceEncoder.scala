package rackwright.zstd.encode

import chisel3._
import chisel3.util._

import rackwright.entropy.bits.BitString
import rackwright.entropy.fse.{FseTable, FseTransition}
import rackwright.zstd.SequenceCodes

/** Writes the sequence bitstream of a block, from the last sequence to the first (RFC 8878, section 3.1.1.3.2.1): one
  * sequence per cycle, two cycles for a sequence with many extra bits.
  *
  * Sequences are prefetched. A launched sequence has its codes looked up, then enters the state loop, which takes one
  * cycle: it computes the table index of each next state from the current state, and reads it. The bits are
  * concatenated behind the loop.
  */
class SequenceEncoder(params: ZstdCompressorParams) extends Module {
  import SequenceEncoder.{kinds, mostStateBits, readAhead, State}

  /** Starts the sequences of a block: how many (at least 1), and the half of the store that holds them. */
  val start = IO(Flipped(Valid(new Bundle {
    val count = UInt(params.sequenceBits.W)
    val half = Bool()
  })))
  val enable = IO(Input(Bool()))

  /** An index into the store, whose sequence arrives two cycles later. */
  val read = IO(Valid(UInt((log2Ceil(params.sequencesMost) + 1).W)))
  val sequence = IO(Input(new CodedSequence))

  /** The tables of the code types of [[SequenceCodes]], and their accuracy logs. */
  val tables = IO(Vec(kinds, Flipped(new EncodeTablePort)))
  val logs = IO(Input(Vec(kinds, UInt(FseTable.logBits.W))))
  val bits = IO(Valid(new BitString(SequenceEncoder.mostBits)))

  /** All bits have been emitted. */
  val done = IO(Output(Bool()))

  // Prefetch, so that a sequence of two cycles is recognised before the next one is launched.
  private val state = RegInit(State.idle)
  private val left = Reg(UInt(params.sequenceBits.W))
  private val half = Reg(Bool())
  private val ahead = Module(new Queue(new CodedSequence, readAhead))
  private val launch = ahead.io.deq.fire
  private val pending = RegInit(0.U(log2Ceil(readAhead + 1).W))
  private val issue = state === State.running && pending =/= readAhead.U
  pending := pending + issue - launch
  read.valid := issue
  read.bits := Cat(half, (left - 1.U)(log2Ceil(params.sequencesMost) - 1, 0))
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
  ahead.io.enq.valid := RegNext(RegNext(issue, false.B), false.B)
  ahead.io.enq.bits := sequence
  assert(!ahead.io.enq.valid || ahead.io.enq.ready, "more sequences are read than there is room for")

  // Code lookup.
  private val head = ahead.io.deq.bits
  private val headIsWide = SequenceEncoder.isWide(SequenceEncoder.extraCounts(head).reduce(_ +& _))
  private val pause = RegNext(launch && headIsWide, false.B)
  ahead.io.deq.ready := enable && !pause
  for ((table, code) <- tables.zip(Seq(head.literalsCode, head.offsetCode, head.matchCode))) {
    table.symbol.valid := launch
    table.symbol.bits := code
  }
  private val looking = RegNext(launch, false.B)
  private val looked = RegEnable(head, launch)

  // The state loop.
  private val turning = RegNext(looking, false.B)
  private val turned = RegEnable(looked, looking)
  private val settling = RegNext(turning, false.B)
  private val kept = Reg(Vec(kinds, UInt((FseTable.stateBits + 1).W)))
  private val states = kept.zip(tables).map { case (state, table) => Mux(settling, table.state, state) }
  kept.zip(states).foreach { case (register, state) => register := state }
  private val steps = tables.zip(states).map { case (table, state) =>
    SequenceEncoder.step(table.transition, state, first)
  }
  for ((table, step) <- tables.zip(steps)) {
    table.place.valid := turning
    table.place.bits := step.place
  }
  when(turning) { first := false.B }

  // Concatenates the bits of the states, and the extra bits.
  private val counts = steps.map(step => RegEnable(Mux(first, 0.U, step.bits), turning))
  private val values = states.zip(counts).map { case (state, count) =>
    SequenceEncoder.low(RegEnable(state, turning), count)
  }
  private val stateBits =
    ShiftRegister(SequenceEncoder.join(Seq(1, 2, 0).map(i => (values(i), counts(i))), mostStateBits), 2)
  private val extras = RegEnable(turned, turning)
  private val extraCounts = SequenceEncoder.extraCounts(extras).map(RegNext(_))
  private val extraNumbers = Seq(extras.literals, extras.matched, extras.offset).map(RegEnable(_, settling))
  private val joining = RegNext(settling, false.B)
  private val extraBits = RegEnable(
    SequenceEncoder.join(extraNumbers.zip(extraCounts).map { case (value, count) =>
      (SequenceEncoder.low(value, count), count)
    }),
    joining
  )

  // Emits both together if they fit, otherwise one after the other.
  private val joined = RegNext(joining, false.B)
  private val wide = SequenceEncoder.isWide(extraBits.count)
  private val extraDue = RegNext(joined && wide, false.B)
  private val both = SequenceEncoder.join(Seq(stateBits, extraBits).map(bits => (bits.value, bits.count)))

  // At the end, the final states and the end mark.
  private val quiet = pending === 0.U && !looking && !turning && !settling && !joining && !joined && !extraDue
  private val flushing = state === State.emptying && quiet
  private val flushed = RegNext(flushing, false.B)
  private val finals = SequenceEncoder.join(
    Seq(2, 1, 0).map(i => (SequenceEncoder.low(kept(i), logs(i)), logs(i))) :+ ((1.U(1.W), 1.U(1.W)))
  )
  when(flushing) { state := State.idle }
  private val output = Wire(Valid(new BitString(SequenceEncoder.mostBits)))
  output.valid := joined || extraDue || flushing
  output.bits := Mux(extraDue, extraBits, Mux(joined, both, finals))
  when(joined && wide) {
    output.bits.value := stateBits.value
    output.bits.count := stateBits.count
  }
  bits.valid := RegNext(output.valid, false.B)
  bits.bits := RegNext(output.bits)
  done := RegNext(flushed, false.B)
}

/** The lookup side of an [[FseEncodeTable]]. */
class EncodeTablePort extends Bundle {
  val symbol = Flipped(Valid(UInt(FseTable.symbolBits.W)))
  val transition = Output(new FseTransition)
  val place = Flipped(Valid(UInt(FseTable.stateBits.W)))
  val state = Output(UInt((FseTable.stateBits + 1).W))
}

/** Combinational functions of a [[SequenceEncoder]]. */
object SequenceEncoder {
  val kinds: Int = 3

  /** Three extra fields of 16 bits each. */
  val mostBits: Int = 48

  /** The most bits that the three states emit together. */
  val mostStateBits: Int = SequenceCodes.mostLog.sum

  /** The most sequences that are prefetched and not launched: enough to keep the loop busy. */
  val readAhead: Int = 4

  /** `emptying` waits until the last sequence has left the loop. */
  object State extends ChiselEnum {
    val idle, running, emptying = Value
  }

  /** The number of bits that a state emits, and the table index of the next state. */
  class Step extends Bundle {
    val bits = UInt(FseTable.logBits.W)
    val place = UInt(FseTable.stateBits.W)
  }

  /** One step of the state loop. The `first` encoded symbol has no previous state: the smallest state that it may
    * follow serves as well as any other, and its bits are discarded.
    */
  def step(transition: FseTransition, state: UInt, first: Bool): Step = {
    val from = Mux(first, transition.least, state)
    val less = from < transition.least
    def place(bits: UInt): UInt = ((from >> bits).zext + transition.offset).asUInt
    val result = Wire(new Step)
    // The state arrives late in the cycle: both indices are computed while it is compared.
    val fewer = transition.bits - 1.U
    result.bits := Mux(less, fewer, transition.bits)
    result.place := Mux(less, place(fewer), place(transition.bits))
    result
  }

  /** The numbers of extra bits of the literals length, the match length and the offset. */
  def extraCounts(sequence: CodedSequence): Seq[UInt] = Seq(
    SequenceCodes.extraBits(SequenceCodes.literals, sequence.literalsCode),
    SequenceCodes.extraBits(SequenceCodes.matched, sequence.matchCode),
    SequenceCodes.extraBits(SequenceCodes.offset, sequence.offsetCode)
  )

  /** Whether the extra bits may not fit beside those of the states. */
  def isWide(extraBits: UInt): Bool = extraBits > (mostBits - mostStateBits).U

  /** The low `count` bits of `value`. */
  def low(value: UInt, count: UInt): UInt =
    value & VecInit.tabulate(value.getWidth)(i => count > i.U).asUInt

  /** Concatenates bit strings, the first one lowest; the bits above the count of each must be zero. */
  def join(parts: Seq[(UInt, UInt)], most: Int = mostBits): BitString = {
    val result = Wire(new BitString(most))
    val ends = parts.map(_._2).scanLeft(0.U(6.W): UInt)((sum, count) => sum +& count)
    result.value := parts.zip(ends).map { case ((value, _), at) => (value << at)(most.max(value.getWidth) - 1, 0) }
      .reduce(_ | _)
    result.count := ends.last
    result
  }
}
