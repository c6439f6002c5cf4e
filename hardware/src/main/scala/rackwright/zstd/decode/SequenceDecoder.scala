package rackwright.zstd.decode

import chisel3._
import chisel3.util._

import rackwright.entropy.bits.BitSource
import rackwright.entropy.fse.{FseEntry, FseTable, FseWrite}
import rackwright.memory.Sram
import rackwright.zstd.{Sequence, SequenceCodes}

/** An FSE table entry for sequences, with the number of extra bits of its code. */
class SequenceEntry extends Bundle {
  val fse = new FseEntry
  val extra = UInt(5.W)
}

/** Decodes sequences (RFC 8878, section 3.1.1.3.2) with three FSE states, each of which uses its own table or the
  * predefined one. A sequence takes three cycles: measure the bits that the entries need, extract the extra bits, and
  * compute the next states, whose entries are read in the same cycle.
  */
class SequenceDecoder extends Module {
  private val kinds = 3

  /** Write port of each of the tables. */
  val write = IO(Input(Vec(kinds, Valid(new FseWrite))))

  /** Announces the number of sequences, at least 1, in the next bitstream, and the accuracy logs of the tables. */
  val start = IO(Flipped(Valid(UInt(17.W))))
  val logs = IO(Input(Vec(kinds, UInt(FseTable.logBits.W))))

  /** The code types that use the predefined table. */
  val predefined = IO(Input(Vec(kinds, Bool())))
  val clear = IO(Input(Bool()))
  val source = IO(Flipped(new BitSource(SequenceDecoder.shown)))
  val output = IO(Decoupled(new Sequence))

  /** All sequences have been decoded, or there are none. */
  val idle = IO(Output(Bool()))

  /** The bitstream has too few or too many bits; held until `clear`. */
  val wrong = IO(Output(Bool()))

  private object State extends ChiselEnum {
    val idle, open, read, measure, extra, next, check = Value
  }
  private val state = RegInit(State.idle)
  private val failed = RegInit(false.B)
  private val left = Reg(UInt(17.W))
  private val states = Reg(Vec(kinds, UInt(FseTable.stateBits.W)))
  private val tables = SequenceCodes.mostLog.zipWithIndex.map { case (log, kind) =>
    Sram(1 << log, new SequenceEntry)(s"tables_$kind")
  }
  for (((table, update), kind) <- tables.zip(write).zipWithIndex) when(RegNext(update.valid, false.B)) {
    val entry = Wire(new SequenceEntry)
    entry.fse := RegNext(update.bits.entry)
    entry.extra := RegNext(SequenceCodes.extraBits(kind, update.bits.entry.symbol))
    table.write(RegNext(update.bits.state), entry)
  }

  // Measure: the number of bits of the extra bits and of the state updates.
  private val measured = Reg(Vec(kinds, new FseEntry))
  private val extras = Reg(Vec(kinds, UInt(5.W)))
  private val extraTotal = Reg(UInt(7.W))
  private val last = RegNext(left === 1.U)
  private val opened = RegInit(false.B)
  private val enough = source.open && source.count >= SequenceDecoder.needed.U

  source.take := false.B
  source.bits := extraTotal
  private val taken = Reg(UInt(SequenceDecoder.shown.W))
  private val takenValid = RegInit(false.B)
  takenValid := false.B

  // The fields of the state updates are adjacent: where each field ends, and where the last one ends.
  private val startOrder = Seq(SequenceCodes.literals, SequenceCodes.offset, SequenceCodes.matched)
  private val order = Seq(SequenceCodes.literals, SequenceCodes.matched, SequenceCodes.offset)
  private val stateTotal = Reg(UInt(5.W))
  private val ends = Reg(Vec(kinds, UInt(5.W)))
  private val starting = state === State.open
  private val fieldBits = kinds * FseTable.stateBits
  private val fields = source.window(SequenceDecoder.shown - 1, SequenceDecoder.shown - fieldBits)
  private def place(kinds: Seq[Int], width: Int => UInt): Unit = {
    val sums = kinds.map(width).scanLeft(0.U(5.W))(_ +& _).tail
    kinds.zip(sums).foreach { case (kind, end) => ends(kind) := end }
    stateTotal := sums.last
  }

  // The next states, whose table entries are read at once.
  private val upcoming = Wire(Vec(kinds, UInt(FseTable.stateBits.W)))
  for (kind <- 0 until kinds) {
    val width = Mux(starting, logs(kind), measured(kind).bits)
    val value = (fields >> (fieldBits.U - ends(kind))).asUInt & ((1.U << width) - 1.U)
    upcoming(kind) := Mux(starting, 0.U, measured(kind).base) + value
  }
  private val advance = (starting && enough && opened) || state === State.next
  private val again = state === State.read
  private val entries = VecInit(tables.zip(SequenceCodes.mostLog).zipWithIndex.map { case ((table, log), kind) =>
    val address = Mux(again, states(kind), upcoming(kind))
    val read = table.read(address(log - 1, 0), advance || again)
    val fixed = SequenceDecoder.predefined(kind)
    val place = RegEnable(address(log2Ceil(fixed.size) - 1, 0), advance || again)
    Mux(predefined(kind), VecInit(fixed)(place), read)
  })
  when(advance) { states := upcoming }

  // Space in the queue is reserved before a sequence is started, so that the pipeline never stalls behind it.
  private val sequence = Wire(Valid(new Sequence))
  private val waiting = withReset(reset.asBool || clear)(Module(new Queue(new Sequence, 8)))
  waiting.io.enq.valid := sequence.valid
  waiting.io.enq.bits := sequence.bits
  assert(!sequence.valid || waiting.io.enq.ready, "a sequence has no place")
  output <> waiting.io.deq
  private val roomy = RegNext(waiting.io.count <= 3.U, false.B)

  switch(state) {
    is(State.open) {
      place(startOrder, logs(_))
      opened := true.B
      source.bits := stateTotal
      when(advance) {
        source.take := true.B
        state := State.measure
      }
    }
    is(State.read) { when(roomy) { state := State.measure } }
    is(State.measure) {
      for (kind <- 0 until kinds) {
        measured(kind) := entries(kind).fse
        extras(kind) := entries(kind).extra
      }
      place(order, entries(_).fse.bits)
      extraTotal := entries.map(_.extra).reduce(_ +& _)
      state := State.extra
      when(source.left < 0.S) {
        failed := true.B
        state := State.idle
      }
    }
    is(State.extra) {
      when(enough) {
        taken := source.window
        takenValid := true.B
        source.take := true.B
        state := State.next
      }
    }
    is(State.next) {
      source.take := !last
      source.bits := stateTotal
      left := left - 1.U
      state := Mux(last, State.check, Mux(roomy, State.measure, State.read))
    }
    is(State.check) {
      failed := source.left =/= 0.S
      state := State.idle
    }
  }

  // Adds the extra bits to their baselines: offset, match length, literals length.
  private val parting = takenValid
  private val codes = RegEnable(VecInit(measured.map(_.symbol)), parting)
  private val widths = RegEnable(extras, parting)
  private val shown = SequenceDecoder.shown
  private val afterOffset = RegEnable((taken << extras(SequenceCodes.offset))(shown - 1, 0), parting)
  private val offsetBits = RegEnable(taken(shown - 1, shown - 31), parting)
  private val joining = RegNext(parting, false.B)
  private def top(value: UInt, count: UInt, most: Int): UInt =
    (value(value.getWidth - 1, value.getWidth - most) >> (most.U - count))(most - 1, 0)
  private val afterMatch = (afterOffset << widths(SequenceCodes.matched))(shown - 1, 0)
  private val literalExtra = RegEnable(top(afterMatch, widths(SequenceCodes.literals), 16), joining)
  private val matchExtra = RegEnable(top(afterOffset, widths(SequenceCodes.matched), 16), joining)
  private val offsetValue =
    RegEnable((1.U(33.W) << widths(SequenceCodes.offset)) + top(offsetBits, widths(SequenceCodes.offset), 31), joining)
  private val literalBase =
    RegEnable(SequenceCodes.baseline(SequenceCodes.literals, codes(SequenceCodes.literals)), joining)
  private val matchBase =
    RegEnable(SequenceCodes.baseline(SequenceCodes.matched, codes(SequenceCodes.matched)), joining)
  private val adding = RegNext(joining, false.B)
  sequence.valid := adding
  sequence.bits.literals := literalBase + literalExtra
  sequence.bits.matched := matchBase + matchExtra
  sequence.bits.offsetValue := offsetValue

  when(start.valid) {
    left := start.bits
    opened := false.B
    state := State.open
  }
  when(clear) {
    failed := false.B
    state := State.idle
  }
  idle := state === State.idle && !takenValid && !joining && !adding
  wrong := failed
}

/** Constants of the structure. */
object SequenceDecoder {

  /** Bits visible at once: the most extra bits of a sequence. */
  val shown: Int = 64

  /** Bits that must be available: the extra bits and the state updates. */
  val needed: Int = 96

  /** The entries of the predefined table of a code type. */
  def predefined(kind: Int): Seq[SequenceEntry] =
    FseTable.entries(SequenceCodes.predefinedLog(kind), SequenceCodes.predefined(kind)).map {
      case (symbol, bits, base) =>
        val entry = Wire(new SequenceEntry)
        entry.fse.symbol := symbol.U
        entry.fse.bits := bits.U
        entry.fse.base := base.U
        entry.extra := SequenceCodes.extraBits(kind, symbol.U(FseTable.symbolBits.W))
        entry
    }

  /** Width of the refill window: two words fit whenever fewer than `needed` bits are available. */
  val window: Int = 192
}
