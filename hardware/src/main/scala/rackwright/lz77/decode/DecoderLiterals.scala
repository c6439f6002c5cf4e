package rackwright.lz77.decode

import chisel3._
import chisel3.util._

import rackwright.stream.Lines

/** A buffer of literal bytes between input and output: a ring of lines that is filled at any byte, without gaps.
  *
  * A run is turned to its place in the ring in one cycle and written in the next. The last line is also stored in a
  * register, so that appending to it writes whole lines.
  */
class DecoderLiterals(params: DecoderParams) extends Module {
  private val bytes = params.bytes
  private val lineBits = params.lineBits
  private val lines = params.literalBytes / bytes
  private val addressBits = log2Ceil(params.literalBytes)

  /** Drops all literals. */
  val clear = IO(Input(Bool()))

  /** A run to append; allowed while `roomy`, and some cycles longer. */
  val run = IO(Flipped(Valid(new LiteralRun(params))))
  val roomy = IO(Output(Bool()))

  /** Reads a line of bytes from byte `start` of the ring on: in the next cycle, two lines that hold them. */
  val read = IO(Flipped(Valid(UInt(addressBits.W))))
  val pair = IO(Output(UInt((16 * bytes).W)))

  /** Bytes that are not needed any more. */
  val taken = IO(Input(UInt(params.countBits.W)))

  private val banks = Module(new LineBanks(bytes, lines))
  private val tail = RegInit(0.U(addressBits.W))
  private val held = RegInit(0.U((addressBits + 1).W))
  private val last = Reg(UInt((8 * bytes).W))

  private val count = Mux(run.valid, run.bits.count, 0.U)
  private val turned = Lines.rotate(run.bits.window, (tail - run.bits.at)(lineBits - 1, 0), bytes)

  private val placing = RegNext(run.valid, false.B)
  private val placed = RegEnable(turned, run.valid)
  private val at = RegEnable(tail, run.valid)
  private val crosses = RegEnable(tail(lineBits - 1, 0) +& run.bits.count >= bytes.U, run.valid)
  private val kept = RegEnable(Lines.mask(tail(lineBits - 1, 0), bytes), run.valid)
  private val merged = Lines.merge(kept, last, placed, bytes)
  private val line = at >> lineBits
  when(placing) { last := Mux(crosses, placed, merged) }

  // The line after the last is written with it: bytes that overflow, or bytes that later ones replace. `roomy` keeps it
  // free.
  for (bank <- 0 until 2) {
    val here = line(0) === bank.U
    banks.write(bank) := placing
    banks.data(bank) := Mux(here, merged, placed)
    banks.row(bank) := Mux(here, line >> 1, (line + 1.U)(addressBits - lineBits - 1, 0) >> 1)
  }
  banks.read := read.valid
  banks.start := read.bits
  pair := banks.pair

  tail := tail + count
  held := held + count - taken
  when(clear) {
    tail := 0.U
    held := 0.U
  }
  roomy := RegNext(held <= (params.literalBytes - params.literalReserve * bytes).U, false.B)
  assert(held <= (params.literalBytes - 2 * bytes).U, "literals are overwritten")
}
