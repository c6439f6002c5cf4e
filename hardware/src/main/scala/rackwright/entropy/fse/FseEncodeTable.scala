package rackwright.entropy.fse

import chisel3._
import chisel3.util._

import rackwright.memory.{RegisterFile, Sram}

/** The effect of a symbol on a state: it outputs `bits` low bits of the state, one less if the state is below `least`;
  * the rest of the state, plus `offset`, is the position of the next state.
  */
class FseTransition extends Bundle {
  val bits = UInt(FseTable.logBits.W)

  /** Up to twice the size of the table. */
  val least = UInt((FseTable.stateBits + 2).W)
  val offset = SInt((FseTable.stateBits + 2).W)
}

/** An FSE encoding table. States are numbered from the size of the table on, so that the highest bit of a state is
  * always the same; see "Finite State Entropy" in the reference library (`fse.h`, comments on `FSE_encodeSymbol`).
  */
class FseEncodeTable extends Module {
  private val symbols = 1 << FseTable.symbolBits
  private val states = 1 << FseTable.stateBits

  /** Same contract as the ports of [[FseTableBuilder]]. */
  val start = IO(Flipped(Valid(UInt(FseTable.logBits.W))))
  val count = IO(Flipped(Valid(new FseCount)))
  val build = IO(Input(Bool()))
  val busy = IO(Output(Bool()))

  /** A symbol, whose transition is valid two cycles later. */
  val symbol = IO(Flipped(Valid(UInt(FseTable.symbolBits.W))))
  val transition = IO(Output(new FseTransition))

  /** A table index, whose state is valid one cycle later. */
  val place = IO(Flipped(Valid(UInt(FseTable.stateBits.W))))
  val state = IO(Output(UInt((FseTable.stateBits + 1).W)))

  private val builder = Module(new FseTableBuilder)
  builder.start := start
  builder.count := count
  builder.build := build
  busy := builder.busy

  // Computes transitions as counts arrive.
  private val log = Reg(UInt(FseTable.logBits.W))
  private val total = Reg(UInt((FseTable.stateBits + 1).W))
  when(start.valid) {
    log := start.bits
    total := 0.U
  }
  private val wanted = Mux(count.bits.low, 1.U, count.bits.count)
  when(count.valid) { total := total + wanted }
  private val sizing = RegNext(count.valid, false.B)
  private val sized = RegEnable(wanted, count.valid)
  private val sizedSymbol = RegEnable(count.bits.symbol, count.valid)
  private val before = RegEnable(total, count.valid)
  private val writing = RegNext(sizing, false.B)
  private val bits = RegEnable((log - Mux(sized <= 1.U, 0.U, Log2(sized - 1.U)))(FseTable.logBits - 1, 0), sizing)
  private val number = RegEnable(sized, sizing)
  private val offset = RegEnable(before.zext - sized.zext, sizing)
  private val writtenSymbol = RegEnable(sizedSymbol, sizing)
  private val entry = Wire(new FseTransition)
  // A symbol with one state outputs all bits, from any state.
  private val shift = Mux(number === 1.U, log, bits)
  entry.bits := shift
  entry.least := number << shift
  entry.offset := offset
  private val transitions = Sram(symbols, new FseTransition)
  private val offsets = RegisterFile(symbols, SInt((FseTable.stateBits + 2).W))
  when(writing) {
    transitions.write(writtenSymbol, entry)
    offsets.write(writtenSymbol, offset)
  }
  transition := RegNext(transitions.read(symbol.bits, symbol.valid))

  // States: those of a symbol are stored consecutively, in ascending order.
  private val cells = Sram(states, UInt((FseTable.stateBits + 1).W))
  private val placing = RegNext(builder.write.valid, false.B)
  private val size = 1.U << log
  private val cell = RegNext(offsets.read(builder.write.bits.entry.symbol) + builder.ordinal.zext)
  private val value = RegNext(size +& builder.write.bits.state)
  when(placing) { cells.write(cell.asUInt(FseTable.stateBits - 1, 0), value) }
  state := cells.read(place.bits, place.valid)
}
