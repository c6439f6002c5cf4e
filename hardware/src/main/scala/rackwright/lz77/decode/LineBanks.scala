package rackwright.lz77.decode

import chisel3._
import chisel3.util._

import rackwright.memory.Sram

/** Memory of lines that is read at any byte: even and odd lines are in two banks, so that two neighbours are read
  * together.
  *
  * A read requested in one cycle has its result in the next. A line written in a cycle is seen by reads of later cycles
  * only. Each bank is a memory of one write and one read port.
  *
  * @param bytes
  *   bytes of a line.
  * @param lines
  *   lines, a power of two.
  */
class LineBanks(bytes: Int, lines: Int) extends Module {
  private val lineBits = log2Ceil(bytes)
  private val rowBits = log2Ceil(lines) - 1

  /** Position of the first byte of the read; positions wrap around the memory. */
  val start = IO(Input(UInt((log2Ceil(lines) + lineBits).W)))
  val read = IO(Input(Bool()))

  /** The two lines of the read of the cycle before, first line in the low half. */
  val pair = IO(Output(UInt((16 * bytes).W)))

  /** For the even and the odd bank: whether and at which address a line is written. */
  val write = IO(Input(Vec(2, Bool())))
  val row = IO(Input(Vec(2, UInt(rowBits.W))))
  val data = IO(Input(Vec(2, UInt((8 * bytes).W))))

  private val line = start >> lineBits
  private val startsOdd = line(0)
  private val rowOfOdd = (line >> 1).asUInt
  private val rows = Seq((rowOfOdd + startsOdd)(rowBits - 1, 0), rowOfOdd(rowBits - 1, 0))
  private val lineOf = rows.zipWithIndex.map { case (at, bank) =>
    val memory = Sram(lines / 2, UInt((8 * bytes).W))
    when(write(bank)) { memory.write(row(bank), data(bank)) }
    memory.read(at, read)
  }
  pair := Mux(RegNext(startsOdd), Cat(lineOf(0), lineOf(1)), Cat(lineOf(1), lineOf(0)))
}
