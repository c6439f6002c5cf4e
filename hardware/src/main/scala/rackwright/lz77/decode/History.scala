package rackwright.lz77.decode

import chisel3._
import chisel3.util._

import rackwright.memory.Sram

/** A read of the history: a line of bytes from `source` on. */
class HistoryRead(val params: DecoderParams) extends Bundle {
  val source = new LinePlace(params.sourceLineBits, params.lineBits)
  val crosses = Bool()
  val young = Vec(2, Bool())
}

/** The bytes that a step adds to the history: bytes of `data` at their positions in the line, from `place` on around
  * its end.
  */
class HistoryAppend(val params: DecoderParams) extends Bundle {
  val data = UInt((8 * params.bytes).W)

  /** For each register, the bytes that are written. */
  val masks = Vec(History.banks, UInt(params.bytes.W))

  /** The line of the first byte is complete with this step. */
  val completes = Bool()
  val line = UInt(History.bankBits.W)
}

/** The last bytes of the output, read at any distance while more are appended.
  *
  * Lines are interleaved over eight banks, each a memory with one read and one write port and a register for its
  * youngest line; appended bytes are written to the registers, and a line to its memory in the cycle after it is
  * complete. The reads of a cycle must not need different lines of one bank from the memories; the planner ensures
  * this.
  *
  * A read takes three cycles: memories, registers of the read lines, selection of the bytes. It includes bytes appended
  * up to the cycle before the selection.
  */
class History(params: DecoderParams) extends Module {
  private val bytes = params.bytes
  private val bankBits = History.bankBits
  private val rowBits = log2Ceil(params.historyBytes / bytes) - bankBits

  /** An operation begins. */
  val clear = IO(Input(Bool()))

  /** A read per lane. */
  val read = IO(Input(Vec(params.lanes, Valid(new HistoryRead(params)))))

  /** In the second cycle after the read: its bytes, each at the position of its source in the line. */
  val window = IO(Output(Vec(params.lanes, UInt((8 * bytes).W))))

  val append = IO(Flipped(Valid(new HistoryAppend(params))))

  /** One cycle after the append that completes it: the line; at other times the line to which bytes were last appended.
    */
  val line = IO(Output(UInt((8 * bytes).W)))

  /** Which register `line` shows when none was completed. */
  val unfinished = IO(Input(UInt(bankBits.W)))
  val stored = IO(Output(Bool()))

  private val recent = Reg(Vec(History.banks, UInt((8 * bytes).W)))
  private val fetched = Reg(Vec(History.banks, UInt((8 * bytes).W)))
  private val row = RegInit(0.U(rowBits.W))

  // Append.
  private val storing = RegNext(append.valid && append.bits.completes, false.B)
  private val storedBank = RegEnable(append.bits.line, append.valid)
  for (bank <- 0 until History.banks) {
    val keep = append.bits.masks(bank).asBools
    when(append.valid) {
      recent(bank) := Cat(keep.zipWithIndex.map { case (taken, i) =>
        Mux(taken, append.bits.data(8 * i + 7, 8 * i), recent(bank)(8 * i + 7, 8 * i))
      }.reverse)
    }
  }
  when(storing && storedBank === (History.banks - 1).U) { row := row + 1.U }
  when(clear) { row := 0.U }
  stored := storing
  line := Mux1H(UIntToOH(Mux(storing, storedBank, unfinished)), recent)

  // First cycle of a read: every bank gets the requested row, if any.
  private val wanted = read.flatMap { lane =>
    val number = lane.bits.source.line(rowBits + bankBits - 1, 0)
    val next = (number + 1.U)(rowBits + bankBits - 1, 0)
    Seq(
      (lane.valid && !lane.bits.young(0), number),
      (lane.valid && !lane.bits.young(1) && lane.bits.crosses, next)
    )
  }
  for (bank <- 0 until History.banks) {
    val memory = Sram(1 << rowBits, UInt((8 * bytes).W))
    when(storing && storedBank === bank.U) { memory.write(row, recent(bank)) }
    val hits = wanted.map { case (valid, number) => valid && number(bankBits - 1, 0) === bank.U }
    val rows = wanted.map { case (_, number) => number >> bankBits }
    val reads = hits.reduce(_ || _)
    val data = memory.read(hits.zip(rows).map { case (hit, number) => Mux(hit, number, 0.U) }.reduce(_ | _), reads)
    for {
      (hit, number) <- hits.zip(rows)
      (other, otherNumber) <- hits.zip(rows)
    } assert(!(hit && other) || number === otherNumber, "two lines wanted of one bank")
    when(RegNext(reads, false.B)) { fetched(bank) := data }
  }

  // Second cycle: the source of each byte; third cycle: the selection.
  for (lane <- 0 until params.lanes) {
    val request = RegEnable(read(lane).bits, read(lane).valid)
    val first = UIntToOH(request.source.line(bankBits - 1, 0), History.banks)
    val second = Cat(first(History.banks - 2, 0), first(History.banks - 1))
    val none = 0.U(History.banks.W)
    val fromMemory = Mux(request.young(0), none, first) -> Mux(request.young(1), none, second)
    val fromRecent = Mux(request.young(0), first, none) -> Mux(request.young(1), second, none)
    window(lane) := Cat((0 until bytes).reverse.map { i =>
      val inFirst = request.source.byte <= i.U
      def choose(of: (UInt, UInt)): UInt = {
        val chosen = Reg(UInt(History.banks.W))
        chosen := Mux(inFirst, of._1, of._2)
        chosen
      }
      val (memory, registers) = (choose(fromMemory), choose(fromRecent))
      def byteOf(line: UInt): UInt = line(8 * i + 7, 8 * i)
      Mux1H(memory.asBools ++ registers.asBools, fetched.map(byteOf) ++ recent.map(byteOf))
    })
  }
}

/** Constants of the structure of the history. */
object History {

  /** Memories, and lines in registers. */
  val banks: Int = 8
  val bankBits: Int = log2Ceil(banks)

  /** Lines this far back from the line of a piece are read from the memories; nearer ones are not all there yet. */
  val youngest: Int = 7
}
