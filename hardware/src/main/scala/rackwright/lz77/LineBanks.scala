package rackwright.lz77

import chisel3._
import chisel3.util._

/** Memory of lines that is read at any byte: even and odd lines stand in two banks, so that two neighbours come at
  * once.
  *
  * A read asked for in one cycle is answered in the next. A line written in a cycle is seen by reads of later cycles
  * only. Each bank is a memory of one write port and `reads` read ports (for an SRAM: one copy per read port).
  *
  * @param bytes
  *   bytes of a line.
  * @param lines
  *   lines, a power of two.
  * @param reads
  *   unaligned reads per cycle.
  * @param masked
  *   whether bytes are written one by one; else whole lines are.
  */
class LineBanks(bytes: Int, lines: Int, reads: Int, masked: Boolean) extends Module {
  private val lineBits = log2Ceil(bytes)
  private val rowBits = log2Ceil(lines) - 1

  /** Position of the first byte of each read, in bytes; positions wrap around the memory. */
  val start = IO(Input(Vec(reads, UInt((log2Ceil(lines) + lineBits).W))))
  val read = IO(Input(Bool()))

  /** The two lines of each read of the cycle before, first line in the low half. */
  val pair = IO(Output(Vec(reads, UInt((16 * bytes).W))))

  /** For the even and the odd bank: whether and where a line is written. */
  val write = IO(Input(Vec(2, Bool())))
  val row = IO(Input(Vec(2, UInt(rowBits.W))))
  val data = IO(Input(Vec(2, UInt((8 * bytes).W))))
  val mask = Option.when(masked)(IO(Input(Vec(2, UInt(bytes.W)))))

  /** Makes a bank and its write port; the function that comes back makes a read port for a row. */
  private def bank(index: Int): UInt => UInt = mask match {
    case Some(masks) =>
      val memory = SyncReadMem(lines / 2, Vec(bytes, UInt(8.W)))
      val line = data(index).asTypeOf(Vec(bytes, UInt(8.W)))
      when(write(index)) { memory.write(row(index), line, masks(index).asBools) }
      at => memory.read(at, read).asUInt
    case None =>
      val memory = SyncReadMem(lines / 2, UInt((8 * bytes).W))
      when(write(index)) { memory.write(row(index), data(index)) }
      at => memory.read(at, read)
  }
  private val even = bank(0)
  private val odd = bank(1)

  for (port <- 0 until reads) {
    val line = start(port) >> lineBits
    val startsOdd = line(0)
    val rowOfOdd = (line >> 1).asUInt
    val fromEven = even((rowOfOdd + startsOdd)(rowBits - 1, 0))
    val fromOdd = odd(rowOfOdd(rowBits - 1, 0))
    pair(port) := Mux(RegNext(startsOdd), Cat(fromEven, fromOdd), Cat(fromOdd, fromEven))
  }
}

/** Shifts and masks of whole bytes in a line. */
object Lines {

  /** The line that begins `byte` bytes into a pair of lines. */
  def align(pair: UInt, byte: UInt, bytes: Int): UInt = (pair >> Cat(byte, 0.U(3.W)))(8 * bytes - 1, 0)

  /** A line turned left: byte i moves to byte i + `by` modulo the line. */
  def rotate(line: UInt, by: UInt, bytes: Int): UInt = {
    val turned = Cat(line, line) << Cat(by, 0.U(3.W))
    turned(16 * bytes - 1, 8 * bytes)
  }

  /** Ones in the lowest `count` bytes of a line, `count` from 0 to the whole line. */
  def below(count: UInt, bytes: Int): UInt = {
    val ones = Fill(8 * bytes, 1.U(1.W))
    ~(ones << Cat(count, 0.U(3.W)))(8 * bytes - 1, 0)
  }
}
