package rackwright.entropy.huffman

import chisel3._
import chisel3.util._

import rackwright.memory.WriteFirstMemory

/** Literals to count: the first `count` of `data`. */
class CountedLiterals extends Bundle {
  val data = UInt((8 * CountedLiterals.lanes).W)
  val count = UInt(log2Ceil(CountedLiterals.lanes + 1).W)
}

object CountedLiterals {

  /** Literals counted per cycle. */
  val lanes: Int = 4
}

/** Counts the literals of a block, four per cycle, and gives the counts out, symbols ascending. What was given out
  * counts from zero again; after a reset that is made so first.
  *
  * @param countBits
  *   bits of a count.
  */
class LiteralHistogram(countBits: Int) extends Module {
  import LiteralHistogram.State
  private val symbols = 256

  /** Not while counts are given out or cleared. */
  val counted = IO(Flipped(Valid(new CountedLiterals)))

  /** Asks for the counts, once what was counted last is two cycles old. */
  val gather = IO(Input(Bool()))
  val count = IO(Valid(new SymbolCount(countBits)))

  /** Counts are cleared after a reset, or given out. */
  val busy = IO(Output(Bool()))

  private val state = RegInit(State.clearing)
  private val at = RegInit(0.U(8.W))
  private val visiting = state =/= State.counting
  private val visited = RegNext(visiting, false.B)
  private val visitedAt = RegNext(at)
  when(visiting) {
    at := at + 1.U
    when(at === (symbols - 1).U) { state := State.counting }
  }
  when(gather && !visiting) { state := State.giving }
  busy := visiting || visited || count.valid

  private val counts = Seq.tabulate(CountedLiterals.lanes) { lane =>
    val memory = Module(new WriteFirstMemory(symbols, countBits))
    val symbol = counted.bits.data(8 * lane + 7, 8 * lane)
    val counts = counted.valid && counted.bits.count > lane.U
    memory.read.valid := counts || visiting
    memory.read.bits := Mux(visiting, at, symbol)
    val counting = RegNext(counts, false.B)
    memory.write.valid := counting || visited
    memory.write.bits.address := Mux(visited, visitedAt, RegNext(symbol))
    memory.write.bits.data := Mux(visited, 0.U, memory.data + 1.U)
    memory.data
  }
  private val giving = RegNext(state === State.giving, false.B)
  private val pairs = counts.grouped(2).map(pair => RegNext(pair.reduce(_ + _))).toSeq
  count.valid := RegNext(RegNext(giving, false.B), false.B)
  count.bits.symbol := RegNext(RegNext(visitedAt))
  count.bits.count := RegNext(pairs.reduce(_ + _))
}

object LiteralHistogram {

  /** `clearing` follows a reset; `giving` clears as well. */
  object State extends ChiselEnum {
    val clearing, counting, giving = Value
  }
}
