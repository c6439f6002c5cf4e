package rackwright.zstd.encode

import chisel3._
import chisel3.util._

import rackwright.entropy.bits.BitString
import rackwright.entropy.fse.{FseDescription, FseEncodeTable, FseNormalizer, FseTable}
import rackwright.memory.RegisterFile
import rackwright.zstd.SequenceCodes

/** Provides the FSE tables for the sequences of a block: built from the counts of the block, for a single code (RLE),
  * or the predefined ones of RFC 8878, section 3.1.1.3.2.2. It also counts the codes.
  */
class SequenceEncodeTables(params: ZstdCompressorParams) extends Module {
  import SequenceEncodeTables._
  private val kinds = SequenceEncoder.kinds
  private val symbols = 1 << FseTable.symbolBits
  private val countBits = params.sequenceBits

  /** A sequence of the block that is being collected. */
  val coded = IO(Flipped(Valid(new CodedSequence)))

  /** The block is complete and has this many sequences; later sequences belong to the next block. */
  val prepare = IO(Flipped(Valid(UInt(countBits.W))))

  /** The tables of the block are ready for use. */
  val ready = IO(Output(Bool()))
  val logs = IO(Output(Vec(kinds, UInt(FseTable.logBits.W))))
  val tables = IO(Vec(kinds, new EncodeTablePort))

  /** The compression modes byte. */
  val modes = IO(Output(UInt(8.W)))

  /** Emits the descriptions of the tables. */
  val describe = IO(Input(Bool()))
  val enable = IO(Input(Bool()))
  val bits = IO(Valid(new BitString(FseDescription.mostBits)))
  val align = IO(Output(Bool()))
  val described = IO(Output(Bool()))

  // Counts codes; the counts of a complete block are copied aside.
  private val used = SequenceCodes.mostCode.map(_ + 1)
  private val counting = used.map(n => RegInit(VecInit.fill(n)(0.U(countBits.W))))
  private val counts = used.map(n => Reg(Vec(n, UInt(countBits.W))))
  private val codes =
    Seq(coded.bits.literalsCode, coded.bits.offsetCode, coded.bits.matchCode).map(RegEnable(_, coded.valid))
  private val counted = RegNext(coded.valid, false.B)
  for (((live, kept), code) <- counting.zip(counts).zip(codes)) {
    when(counted) { live(code) := live(code) + 1.U }
    when(prepare.valid) {
      kept := live
      live.foreach(_ := 0.U)
    }
  }

  private val state = RegInit(State.predefine)
  private val kind = RegInit(0.U(2.W))
  private val total = RegInit(0.U(countBits.W))
  private val pending = RegInit(false.B)
  private val fresh = total < ownFrom.U
  private val mode = RegInit(VecInit.fill(kinds)(predefined.U(2.W)))

  /** All tables are the predefined ones. */
  private val arePredefined = RegInit(false.B)
  private val accuracies = Reg(Vec(kinds, UInt(FseTable.logBits.W)))
  private val singles = Reg(Vec(kinds, UInt(FseTable.symbolBits.W)))
  private val mostLogs = VecInit(SequenceCodes.mostLog.map(_.U(FseTable.logBits.W)))
  private val asks = RegNext(Log2(total - 1.U) - 2.U)
  private val ownLog = Mux(asks < leastLog.U, leastLog.U, Mux(asks > mostLogs(kind), mostLogs(kind), asks))
  logs := accuracies
  modes := Cat(mode(0), mode(1), mode(2), 0.U(2.W))
  ready := state === State.ready && !pending

  // Normalizes the counts, one code type after the other; the normalized counts are kept for the descriptions.
  private val normalizer = Module(new FseNormalizer(countBits))
  normalizer.total.valid := state === State.divide
  normalizer.total.bits := total
  normalizer.start.valid := state === State.scale
  normalizer.start.bits := ownLog
  normalizer.count := RegNext(
    VecInit(counts.map(kept => VecInit(kept.padTo(symbols, 0.U(countBits.W)))(normalizer.symbol)))(kind)
  )
  private val symbol = Reg(UInt(FseTable.symbolBits.W))
  normalizer.asked := symbol
  private val scaled = RegisterFile(kinds * symbols, UInt((FseTable.stateBits + 1).W))

  // Loads the tables: one after the other from the counts, or all at once with the predefined distributions.
  private val way = mode(kind)
  private val fixed = SequenceCodes.predefined.map(counts => VecInit(counts.padTo(symbols, 0).map(_.S(8.W)))(symbol))
  private val numbers = VecInit.tabulate(kinds)(which =>
    MuxLookup(mode(which), normalizer.scaled)(
      Seq(predefined.U -> fixed(which).asUInt(6, 0), single.U -> (symbol === singles(which)))
    )
  )
  private val startLogs = SequenceCodes.predefinedLog.zip(mode).map { case (log, way) =>
    MuxLookup(way, ownLog)(Seq(predefined.U -> log.U, single.U -> 0.U))
  }
  private val encoders = Seq.tabulate(kinds) { which =>
    val encoder = Module(new FseEncodeTable)
    val mine = fresh || kind === which.U
    encoder.start.valid := mine && state === State.begin
    encoder.start.bits := startLogs(which)
    when(encoder.start.valid) { accuracies(which) := startLogs(which) }
    encoder.count.valid := mine && state === State.feed && numbers(which) =/= 0.U
    encoder.count.bits.symbol := symbol
    encoder.count.bits.low := mode(which) === predefined.U && fixed(which) < 0.S
    encoder.count.bits.count := numbers(which)
    encoder.build := mine && state === State.build
    encoder.symbol := tables(which).symbol
    encoder.place := tables(which).place
    tables(which).transition := encoder.transition
    tables(which).state := encoder.state
    encoder
  }
  private val building = encoders.map(_.busy).reduce(_ || _)

  // Writes the descriptions.
  private val writer = Module(new FseDescription)
  private val atDescription = state === State.describe
  private val begun = RegInit(false.B)
  writer.start.valid := atDescription && way === own.U && !begun
  begun := atDescription && way === own.U
  writer.start.bits := accuracies(kind)
  writer.count := scaled.read(Cat(kind, writer.symbol))
  writer.enable := enable
  private val describesSingle = atDescription && way === single.U
  bits.valid := writer.bits.valid || describesSingle
  bits.bits := writer.bits.bits
  when(describesSingle) {
    bits.bits.value := singles(kind)
    bits.bits.count := 8.U
  }
  align := state === State.align
  described := state === State.described

  when(prepare.valid) {
    total := prepare.bits
    pending := true.B
  }
  private def each(next: State.Type, end: State.Type): Unit = {
    kind := Mux(kind === (kinds - 1).U, 0.U, kind + 1.U)
    state := Mux(kind === (kinds - 1).U, end, next)
  }
  switch(state) {
    is(State.predefine) {
      mode.foreach(_ := predefined.U)
      state := Mux(arePredefined, State.settle, State.begin)
    }
    is(State.divide) {
      singles.foreach(_ := 0.U)
      state := State.scale
    }
    is(State.scale) { when(normalizer.start.ready) { state := State.scaling } }
    is(State.scaling) {
      when(normalizer.done) {
        mode(kind) := Mux(normalizer.single, single.U, Mux(normalizer.usable, own.U, predefined.U))
        singles(kind) := normalizer.largest
        state := State.begin
      }
    }
    is(State.begin) {
      symbol := 0.U
      arePredefined := fresh
      state := State.feed
    }
    is(State.feed) {
      scaled.write(Cat(kind, symbol), numbers(kind))
      symbol := symbol + 1.U
      when(symbol === (symbols - 1).U) { state := State.build }
    }
    is(State.build) { state := Mux(fresh, State.settle, State.next) }
    is(State.next) { each(State.scale, State.settle) }
    is(State.settle) { when(!building) { state := State.ready } }
    is(State.ready) {
      when(pending) {
        pending := false.B
        kind := 0.U
        state := Mux(fresh, State.predefine, State.divide)
      }.elsewhen(describe) { state := State.describe }
    }
    is(State.describe) {
      when(way =/= own.U) { each(State.describe, State.described) }
      when(way === own.U && writer.done) { state := State.align }
    }
    is(State.align) { state := State.closed }
    is(State.closed) { each(State.describe, State.described) }
    is(State.described) { state := State.ready }
  }
}

object SequenceEncodeTables {

  /** Compression modes of a table (RFC 8878, section 3.1.1.3.2.1). */
  val predefined: Int = 0
  val single: Int = 1
  val own: Int = 2

  /** With at least this many sequences, a table of their own is worth its description. */
  val ownFrom: Int = 128

  /** The smallest accuracy log that has a state for every code. */
  val leastLog: Int = 7

  object State extends ChiselEnum {
    val predefine, divide, scale, scaling, begin, feed, build, next, settle, ready, describe, align, closed, described =
      Value
  }
}
