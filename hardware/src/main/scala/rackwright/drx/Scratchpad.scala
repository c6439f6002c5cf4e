package rackwright.drx

import chisel3._
import chisel3.util._

import rackwright.memory.Sram
import rackwright.stream.Lines

/** A read of at most a line from `address`; `lastLine` holds its last byte and is the same line or the next. */
class ScratchpadRead(params: Params) extends Bundle {
  val address = UInt(params.addressBits.W)
  val lastLine = UInt(params.lineBits.W)

  def line: UInt = address >> params.offsetBits
  def offset: UInt = address(params.offsetBits - 1, 0)

  /** Both access bytes of a common line. */
  def meets(other: ScratchpadRead): Bool =
    line === other.line || lastLine === other.line || line === other.lastLine
}

/** Bytes to write, aligned to lines: those of `lower` go to `line`, those of `upper` to the next. */
class ScratchpadWrite(params: Params) extends Bundle {
  val line = UInt(params.lineBits.W)
  val data = UInt((8 * params.lineBytes).W)
  val lower = UInt(params.lineBytes.W)
  val upper = UInt(params.lineBytes.W)
  val straddles = Bool()

  /** Aligns the low bytes of `bytes` that `mask` selects to `address`. */
  def place(params: Params, address: UInt, bytes: UInt, mask: UInt): Unit = {
    val offset = address(params.offsetBits - 1, 0)
    val turned = (Cat(mask, mask) << offset)(2 * params.lineBytes - 1, params.lineBytes)
    val behind = ~Lines.mask(offset, params.lineBytes)
    line := address >> params.offsetBits
    data := Lines.rotate(bytes, offset, params.lineBytes)
    lower := turned & behind
    upper := turned & ~behind
    straddles := upper.orR
  }
}

/** The scratchpad: lines of one vector, in banks that are accessed in parallel.
  *
  * A bank is a range of addresses in two memories, which hold its even and its odd lines, so that an access of up to a
  * line at any alignment takes one cycle. Conflicting accesses of the same kind to a bank are serialised, the first
  * port first. A read and a write of the same line in the same cycle, whose result the memories do not define, are
  * serialised for transfers; the vector unit avoids them itself.
  */
class Scratchpad(params: Params) extends Module {
  import Scratchpad._

  /** Three operands, then bytes to store. */
  val reads = IO(Vec(readers, Flipped(Decoupled(new ScratchpadRead(params)))))

  /** The bytes of the read in the cycle before, the first one lowest. */
  val data = IO(Output(Vec(readers, UInt((8 * params.lineBytes).W))))

  /** Results, which never stall, then loaded bytes. */
  val writes = IO(Vec(writers, Flipped(Decoupled(new ScratchpadWrite(params)))))

  private val bankBits = log2Ceil(params.banks)
  private def bankOf(line: UInt): UInt =
    if (params.banks == 1) 0.U else line(params.lineBits - 1, params.lineBits - bankBits)
  private def banks(first: UInt, last: UInt): UInt =
    UIntToOH(bankOf(first), params.banks) | UIntToOH(bankOf(last), params.banks)
  private def next(line: UInt): UInt = (line + 1.U)(params.lineBits - 1, 0)
  private def meet(read: ScratchpadRead, write: ScratchpadWrite): Bool =
    read.line === write.line || read.lastLine === write.line || (write.straddles && read.line === next(write.line))

  private val readBanks = reads.map(read => banks(read.bits.line, read.bits.lastLine))
  private val writeBanks = writes.map(_.bits).map { write =>
    banks(write.line, Mux(write.straddles, next(write.line), write.line))
  }

  writes(results).ready := true.B
  for (i <- 0 until readers) {
    val taken = (0 until i).map(j => reads(j).fire && (readBanks(j) & readBanks(i)).orR)
    val written = writes(results).valid && meet(reads(i).bits, writes(results).bits)
    reads(i).ready := !taken.fold(if (i == stored) written else false.B)(_ || _)
    assert(!reads(i).fire || !written, "a line is read and written at once")
  }
  writes(loaded).ready := !(writes(results).valid && (writeBanks(0) & writeBanks(1)).orR) &&
    !reads.map(read => read.valid && meet(read.bits, writes(loaded).bits)).reduce(_ || _)

  private val memories = Seq.tabulate(params.banks, 2)((bank, half) => memory(bank, half == 1))

  /** The line that a memory reads: that of the port that owns its bank in this cycle. */
  private def memory(bank: Int, odd: Boolean): UInt = {
    val lines = Sram(params.lines / params.banks / 2, Vec(params.lineBytes, UInt(8.W)))
    def row(line: UInt): UInt = (line >> 1)(params.lineBits - bankBits - 2, 0)
    // The even or odd one of the lines of a read; any line if it has none.
    def mine(read: ScratchpadRead): UInt = row(Mux(read.line(0) === odd.B, read.line, read.lastLine))
    val (reading, writing) = (
      reads.zip(readBanks).map { case (read, of) => read.fire && of(bank) },
      writes.zip(writeBanks).map { case (write, of) => write.fire && of(bank) }
    )
    val write = Mux1H(writing, writes.map(_.bits))
    val first = write.line(0) === odd.B
    // An access across the border of two banks is written by the bank that owns each line.
    val place = Mux(first, write.line, next(write.line))
    val mask = Mux(first, write.lower, write.upper)
    when(writing.reduce(_ || _) && bankOf(place) === bank.U) {
      lines.write(row(place), write.data.asTypeOf(Vec(params.lineBytes, UInt(8.W))), mask.asBools)
    }
    lines.read(Mux1H(reading, reads.map(read => mine(read.bits))), reading.reduce(_ || _)).asUInt
  }

  for (i <- 0 until readers) {
    val (line, lastLine) = (RegNext(reads(i).bits.line), RegNext(reads(i).bits.lastLine))
    val offset = RegNext(reads(i).bits.offset)
    def of(line: UInt, half: Int): UInt = VecInit(memories.map(_(half)))(bankOf(line))
    val first = Mux(line(0), of(line, 1), of(line, 0))
    val second = Mux(line(0), of(lastLine, 0), of(lastLine, 1))
    val both = Lines.merge(Lines.mask(offset, params.lineBytes), second, first, params.lineBytes)
    data(i) := Lines.rotate(both, 0.U - offset, params.lineBytes)
  }
}

/** The ports of a [[Scratchpad]]. */
object Scratchpad {
  val readers: Int = 4
  val writers: Int = 2
  val stored: Int = 3
  val results: Int = 0
  val loaded: Int = 1
}
