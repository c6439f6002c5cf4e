package rackwright.drx

import chisel3._
import chisel3.util._

import rackwright.stream.Lines

/** Gives the bytes of a read: of its two lines, one is even and the other one is odd. */
class ScratchpadReader(params: Params) extends Module {
  val read = IO(Input(new ScratchpadRead(params)))

  /** Where the first byte of the read in the cycle before is to be. */
  val place = IO(Input(UInt(params.offsetBits.W)))

  /** The lines of the read in the cycle before, of each bank. */
  val banks = IO(Input(Vec(params.banks, Vec(2, UInt((8 * params.lineBytes).W)))))

  /** Its bytes, from that place on. */
  val data = IO(Output(UInt((8 * params.lineBytes).W)))

  private val (line, lastLine) = (RegNext(read.line), RegNext(read.lastLine))
  private val offset = RegNext(read.offset)
  private val odd = line(0)
  private val fromOdd = Lines.mask(offset, params.lineBytes) ^ Fill(params.lineBytes, odd)

  private val size = LineRotation.blockBytes.min(params.lineBytes)
  private val both = Seq.tabulate(params.lineBytes / size) { i =>
    val block = Module(new ReadBlock(params, size))
    block.banks := VecInit(banks.map(lines => VecInit(lines.map(LineRotation.blocks(_, params.lineBytes)(i)))))
    block.even := Scratchpad.bankOf(params, Mux(odd, lastLine, line))
    block.odd := Scratchpad.bankOf(params, Mux(odd, line, lastLine))
    block.fromOdd := fromOdd(size * (i + 1) - 1, size * i)
    block.bytes
  }
  private val rotation = Module(new LineRotation(params.lineBytes))
  rotation.line := VecInit(both).asUInt
  rotation.by := place - offset
  data := rotation.turned
}

/** Some bytes of the lines of a read, where they are in these lines. */
class ReadBlock(params: Params, size: Int) extends Module {

  /** Those of the even and of the odd line of each bank, and the banks that they are of. */
  val banks = IO(Input(Vec(params.banks, Vec(2, UInt((8 * size).W)))))
  val even = IO(Input(UInt(params.bankBits.W)))
  val odd = IO(Input(UInt(params.bankBits.W)))

  /** The bytes of the odd line that are read; the others are of the even one. */
  val fromOdd = IO(Input(UInt(size.W)))
  val bytes = IO(Output(UInt((8 * size).W)))

  private def of(half: Int, bank: UInt): UInt =
    if (params.banks == 1) banks.head(half) else VecInit(banks.map(_(half)))(bank)
  bytes := Lines.merge(fromOdd, of(1, odd), of(0, even), size)
}
