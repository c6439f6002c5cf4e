package rackwright.zstd.decode

import chisel3._
import chisel3.util._

import rackwright.entropy.fse.{FseCountReader, FseTable, FseTableBuilder, FseWeights, FseWrite}
import rackwright.zstd.SequenceCodes

/** A request to build a table. */
class TableOrder extends Bundle {

  /** One of the code types of [[SequenceCodes]], or [[SequenceTables.weights]]. */
  val kind = UInt(2.W)

  /** The compression mode of RFC 8878, section 3.1.1.3.2.1. */
  val mode = UInt(2.W)
}

/** Builds the FSE tables of a block, one after the other: from a description, for a single symbol (RLE), or unchanged
  * from the block before (repeat). Predefined tables are constant and need no building.
  */
class SequenceTables extends Module {
  private val kinds = SequenceTables.kinds

  /** A frame starts; true if the tables of its dictionary are loaded, false if it has none to repeat. */
  val begin = IO(Flipped(Valid(Bool())))
  val clear = IO(Input(Bool()))
  val order = IO(Flipped(Decoupled(new TableOrder)))

  /** The next four bytes, valid with `there`, and the number of them that have been parsed. */
  val window = IO(Input(UInt(32.W)))
  val there = IO(Input(Bool()))
  val consume = IO(Output(UInt(2.W)))
  val write = IO(Output(Vec(kinds, Valid(new FseWrite))))
  val logs = IO(Output(Vec(kinds, UInt(FseTable.logBits.W))))

  /** The code types that use the predefined table, which is never written. */
  val predefined = IO(Output(Vec(kinds, Bool())))

  /** The table has been built and its description consumed, even if the description was truncated. */
  val done = IO(Output(Bool()))
  val wrong = IO(Output(Bool()))

  private object State extends ChiselEnum {
    val idle, choose, symbol, describe, build, finish, failed = Value
  }
  private val state = RegInit(State.idle)
  private val current = Reg(new TableOrder)
  private val reader = Module(new FseCountReader)
  private val builder = Module(new FseTableBuilder)

  /** Tables that may be repeated, and those that remain the predefined ones until another is requested. */
  private val known = RegInit(VecInit.fill(kinds)(false.B))
  private val isPredefined = RegInit(VecInit.fill(kinds)(false.B))
  private val accuracies = Reg(Vec(kinds, UInt(FseTable.logBits.W)))
  private val mostLogs = VecInit((SequenceCodes.mostLog :+ FseWeights.mostLog).map(_.U(FseTable.logBits.W)))
  private val mostCodes =
    VecInit((SequenceCodes.mostCode :+ ((1 << FseTable.symbolBits) - 1)).map(_.U(FseTable.symbolBits.W)))

  reader.start.valid := false.B
  reader.start.bits.mostLog := mostLogs(current.kind)
  reader.start.bits.mostSymbol := mostCodes(current.kind)
  reader.clear := clear
  reader.window := window
  reader.there := there
  builder.start.valid := reader.log.valid
  builder.start.bits := reader.log.bits
  builder.count := reader.count
  builder.build := false.B
  when(reader.log.valid) { accuracies(current.kind) := reader.log.bits }

  private val predefinedLogs = VecInit(SequenceCodes.predefinedLog.map(_.U(FseTable.logBits.W)))

  order.ready := state === State.idle
  consume := reader.consume
  done := state === State.finish
  wrong := state === State.failed
  logs := accuracies
  predefined := isPredefined
  private val single = WireDefault(false.B)
  for (kind <- 0 until kinds) {
    write(kind).valid := current.kind === kind.U && (builder.write.valid || single)
    write(kind).bits := builder.write.bits
    when(single) {
      write(kind).bits.state := 0.U
      write(kind).bits.entry.base := 0.U
      write(kind).bits.entry.bits := 0.U
      write(kind).bits.entry.symbol := window(FseTable.symbolBits - 1, 0)
    }
  }

  switch(state) {
    is(State.idle) {
      when(order.valid) {
        current := order.bits
        state := State.choose
      }
    }
    is(State.choose) {
      switch(current.mode) {
        is(SequenceTables.predefined.U) {
          state := State.finish
          accuracies(current.kind) := predefinedLogs(current.kind)
        }
        is(SequenceTables.single.U) { state := State.symbol }
        is(SequenceTables.described.U) {
          reader.start.valid := true.B
          state := State.describe
        }
        is(SequenceTables.repeated.U) { state := Mux(known(current.kind), State.finish, State.failed) }
      }
      isPredefined(current.kind) := current.mode === SequenceTables.predefined.U ||
        (current.mode === SequenceTables.repeated.U && isPredefined(current.kind))
    }
    is(State.symbol) {
      when(there) {
        single := true.B
        consume := 1.U
        accuracies(current.kind) := 0.U
        state := Mux(window(7, 0) > mostCodes(current.kind), State.failed, State.finish)
      }
    }
    is(State.describe) {
      when(reader.done) {
        builder.build := true.B
        state := State.build
      }
      when(reader.wrong) { state := State.failed }
    }
    is(State.build) { when(!builder.busy) { state := State.finish } }
    is(State.finish) {
      known(current.kind) := true.B
      state := State.idle
    }
  }
  when(begin.valid) { known.foreach(_ := begin.bits) }
  when(clear) { state := State.idle }
}

/** Table types and modes. */
object SequenceTables {

  /** Number of tables: three for sequences, and one for Huffman weights. */
  val kinds: Int = 4
  val weights: Int = 3

  val predefined: Int = 0
  val single: Int = 1
  val described: Int = 2
  val repeated: Int = 3
}
