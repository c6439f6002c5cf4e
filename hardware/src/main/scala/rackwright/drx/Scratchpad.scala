package rackwright.drx

import chisel3._
import chisel3.util._

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

  /** Aligns the low bytes of `bytes` that `mask` selects to `address`; `rotate` turns a line by an offset. */
  def place(params: Params, address: UInt, bytes: UInt, mask: UInt)(
      rotate: (UInt, UInt) => UInt = Lines.rotate(_, _, params.lineBytes)
  ): Unit = {
    val offset = address(params.offsetBits - 1, 0)
    val turned = (Cat(mask, mask) << offset)(2 * params.lineBytes - 1, params.lineBytes)
    val behind = ~Lines.mask(offset, params.lineBytes)
    line := address >> params.offsetBits
    data := rotate(bytes, offset)
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

  /** The bytes of the read in the cycle before, the first one lowest; of those to store, at this place. */
  val data = IO(Output(Vec(readers, UInt((8 * params.lineBytes).W))))
  val storedPlace = IO(Input(UInt(params.offsetBits.W)))

  /** Results, which never stall, then loaded bytes. */
  val writes = IO(Vec(writers, Flipped(Decoupled(new ScratchpadWrite(params)))))

  private def banks(first: UInt, last: UInt): UInt =
    UIntToOH(bankOf(params, first), params.banks) | UIntToOH(bankOf(params, last), params.banks)
  private def meet(read: ScratchpadRead, write: ScratchpadWrite): Bool =
    read.line === write.line || read.lastLine === write.line || (write.straddles && read.line === next(
      params,
      write.line
    ))

  private val readBanks = reads.map(read => banks(read.bits.line, read.bits.lastLine))
  private val writeBanks = writes.map(_.bits).map { write =>
    banks(write.line, Mux(write.straddles, next(params, write.line), write.line))
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

  private val memories = Seq.tabulate(params.banks) { bank =>
    val memory = Module(new ScratchpadBank(params))
    memory.number := bank.U
    for ((access, (port, of)) <- memory.reads.zip(reads.zip(readBanks))) {
      access.valid := port.fire && of(bank)
      access.bits := port.bits
    }
    for ((access, (port, of)) <- memory.writes.zip(writes.zip(writeBanks))) {
      access.valid := port.fire && of(bank)
      access.bits := port.bits
    }
    memory.lines
  }
  for (i <- 0 until readers) {
    val reader = Module(new ScratchpadReader(params))
    reader.read := reads(i).bits
    reader.place := (if (i == stored) storedPlace else 0.U)
    reader.banks := VecInit(memories)
    data(i) := reader.data
  }
}

/** The ports of a [[Scratchpad]], and its lines. */
object Scratchpad {
  val readers: Int = 4
  val writers: Int = 2
  val stored: Int = 3
  val results: Int = 0
  val loaded: Int = 1

  /** The bank that holds a line. */
  def bankOf(params: Params, line: UInt): UInt =
    if (params.banks == 1) 0.U else line(params.lineBits - 1, params.lineBits - params.bankBits)

  /** The line behind a line. */
  def next(params: Params, line: UInt): UInt = (line + 1.U)(params.lineBits - 1, 0)
}
