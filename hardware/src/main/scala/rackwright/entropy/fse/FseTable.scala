package rackwright.entropy.fse

import chisel3._
import chisel3.util._

import rackwright.memory.Sram

/** An entry of an FSE decoding table. */
class FseEntry extends Bundle {

  /** The base of the next state, and the number of bits that are added to it. */
  val base = UInt(FseTable.stateBits.W)
  val bits = UInt(4.W)
  val symbol = UInt(FseTable.symbolBits.W)
}

/** A write of an entry to its table. */
class FseWrite extends Bundle {
  val state = UInt(FseTable.stateBits.W)
  val entry = new FseEntry
}

/** The normalized count of a symbol: 1 to the size of the table, or `low` for a probability of less than one. */
class FseCount extends Bundle {
  val symbol = UInt(FseTable.symbolBits.W)
  val low = Bool()
  val count = UInt((FseTable.stateBits + 1).W)
}

/** Limits of the supported tables. */
object FseTable {

  /** The largest accuracy log (RFC 8878, section 3.1.1.3.2.1): 2^9 states. */
  val stateBits: Int = 9
  val symbolBits: Int = 6

  /** Width of an accuracy log. */
  val logBits: Int = 4

  /** The entries of a table that is constant in hardware (RFC 8878, section 4.1.1): symbol, number of bits and base of
    * each state.
    *
    * @param log
    *   its accuracy.
    * @param counts
    *   by symbol, -1 for less than one.
    */
  def entries(log: Int, counts: Seq[Int]): Seq[(Int, Int, Int)] = {
    val size = 1 << log
    val low = counts.zipWithIndex.collect { case (-1, symbol) => symbol }
    val places = Iterator.iterate(0)(place => (place + (size >> 1) + (size >> 3) + 3) & (size - 1))
    val spread = counts.zipWithIndex.flatMap { case (count, symbol) => Seq.fill(count.max(0))(symbol) }
    val placed = places.filter(_ < size - low.size).take(spread.size).toSeq.zip(spread)
    val symbols = (placed ++ low.zipWithIndex.map { case (symbol, i) => (size - 1 - i, symbol) }).sortBy(_._1).map(_._2)
    symbols.zipWithIndex.map { case (symbol, state) =>
      val number = counts(symbol).abs + symbols.take(state).count(_ == symbol)
      val bits = log - (31 - Integer.numberOfLeadingZeros(number))
      (symbol, bits, (number << bits) - size)
    }
  }
}

/** Builds decoding tables from normalized counts (RFC 8878, section 4.1.1): spreads the symbols over the states, one
  * per cycle, then computes the entry of each state, one per cycle.
  */
class FseTableBuilder extends Module {
  private val states = 1 << FseTable.stateBits
  private val symbols = 1 << FseTable.symbolBits

  /** Starts a table with this accuracy log. Its counts follow, in ascending order of symbols, and then `build`. */
  val start = IO(Flipped(Valid(UInt(FseTable.logBits.W))))
  val count = IO(Flipped(Valid(new FseCount)))

  /** All counts have been given; their sum must be the size of the table. */
  val build = IO(Input(Bool()))

  /** The entries. */
  val write = IO(Valid(new FseWrite))

  /** Valid with an entry: the rank of its state among those of its symbol, numbered from the count of the symbol on. */
  val ordinal = IO(Output(UInt((FseTable.stateBits + 1).W)))
  val busy = IO(Output(Bool()))

  private object State extends ChiselEnum {
    val idle, spread, build = Value
  }
  private val state = RegInit(State.idle)
  private val log = Reg(UInt(FseTable.logBits.W))
  private val mask = Reg(UInt(FseTable.stateBits.W))
  private val step = Reg(UInt(FseTable.stateBits.W))
  private val highest = Reg(UInt(FseTable.stateBits.W))
  private val counts = Reg(Vec(symbols, UInt((FseTable.stateBits + 1).W)))
  private val low = Reg(Vec(symbols, Bool()))
  private val cells = Sram(states, UInt(FseTable.symbolBits.W))

  // Counts; symbols with a probability of less than one occupy the end of the table.
  private val cell = Wire(Valid(new Bundle {
    val place = UInt(FseTable.stateBits.W)
    val symbol = UInt(FseTable.symbolBits.W)
  }))
  cell.valid := false.B
  cell.bits.place := highest
  cell.bits.symbol := count.bits.symbol
  when(start.valid) {
    val size = 1.U << start.bits
    log := start.bits
    mask := size - 1.U
    highest := size - 1.U
    step := (size >> 1) +& (size >> 3) + 3.U
    counts.foreach(_ := 0.U)
    low.foreach(_ := false.B)
  }
  when(count.valid) {
    counts(count.bits.symbol) := Mux(count.bits.low, 1.U, count.bits.count)
    low(count.bits.symbol) := count.bits.low
    when(count.bits.low) {
      cell.valid := true.B
      highest := highest - 1.U
    }
  }

  // Spreads symbols, up to the last one that occurs. The next symbol starts in the cycle after the last state of a
  // symbol.
  private val symbol = Reg(UInt(FseTable.symbolBits.W))
  private val last = RegEnable(count.bits.symbol, count.valid)
  private val nth = Reg(UInt((FseTable.stateBits + 1).W))
  private val place = Reg(UInt(FseTable.stateBits.W))
  private val wanted = Mux(low(symbol), 0.U, counts(symbol))
  when(build) {
    state := State.spread
    symbol := 0.U
    nth := 1.U
    place := 0.U
  }
  when(state === State.spread) {
    cell.bits.place := place
    cell.bits.symbol := symbol
    when(place > highest || wanted =/= 0.U) { place := (place + step) & mask }
    when(place <= highest) {
      cell.valid := wanted =/= 0.U
      nth := nth + 1.U
      when(nth >= wanted) {
        nth := 1.U
        symbol := symbol + 1.U
        when(symbol === last) { state := State.build }
      }
    }
  }
  when(cell.valid) { cells.write(cell.bits.place, cell.bits.symbol) }

  // Computes entries.
  private val at = RegInit(0.U((FseTable.stateBits + 1).W))
  private val reading = state === State.build && at <= mask
  private val read = cells.read(at(FseTable.stateBits - 1, 0), reading)
  private val arriving = RegNext(reading, false.B)
  private val arrivingAt = RegEnable(at(FseTable.stateBits - 1, 0), reading)
  when(reading) { at := at + 1.U }
  private val counting = RegNext(arriving, false.B)
  private val counted = RegEnable(read, arriving)
  private val countedAt = RegEnable(arrivingAt, arriving)
  private val number = counts(counted)
  when(counting) { counts(counted) := number + 1.U }

  private val sizing = RegNext(counting, false.B)
  private val sized = RegEnable(number, counting)
  private val sizedAt = RegEnable(countedAt, counting)
  private val sizedSymbol = RegEnable(counted, counting)
  private val bits = (log - Log2(sized))(FseTable.logBits - 1, 0)
  private val writing = RegNext(sizing, false.B)
  private val writeBits = RegEnable(bits, sizing)
  private val writeNumber = RegEnable(sized, sizing)
  write.valid := writing
  ordinal := writeNumber
  write.bits.state := RegEnable(sizedAt, sizing)
  write.bits.entry.symbol := RegEnable(sizedSymbol, sizing)
  write.bits.entry.bits := writeBits
  write.bits.entry.base := ((writeNumber << writeBits) - (mask +& 1.U))(FseTable.stateBits - 1, 0)
  when(state === State.build && !reading && !arriving && !counting && !sizing && !writing) {
    state := State.idle
    at := 0.U
  }
  busy := state =/= State.idle || build
}
