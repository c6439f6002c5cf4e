package rackwright.lz77

import chisel3._
import chisel3.util._

/** Literal bytes on their way from the input to the output: a ring of lines that is filled and emptied at any byte.
  *
  * The last line is held in a register as well, so that appending to it writes whole lines.
  */
class DecoderLiterals(params: DecoderParams) extends Module {
  private val bytes = params.bytes
  private val lineBits = params.lineBits
  private val lines = params.literalBytes / bytes
  private val addressBits = log2Ceil(params.literalBytes)

  /** Forgets everything. */
  val clear = IO(Input(Bool()))

  /** Appends `count` bytes, those of `window` from byte `at` on; allowed while `roomy`. */
  val window = IO(Input(UInt((8 * bytes).W)))
  val at = IO(Input(UInt(lineBits.W)))
  val count = IO(Input(UInt(params.countBits.W)))
  val roomy = IO(Output(Bool()))

  /** Reads the oldest bytes, so that the first of them is byte `skew` of `line` in the next cycle. */
  val read = IO(Input(Bool()))
  val skew = IO(Input(UInt(lineBits.W)))
  val line = IO(Output(UInt((8 * bytes).W)))

  /** Bytes taken in this cycle: after a read of this cycle, not before. */
  val taken = IO(Input(UInt(params.countBits.W)))

  private val banks = Module(new LineBanks(bytes, lines, 1, masked = false))
  private val head = RegInit(0.U(addressBits.W))
  private val tail = RegInit(0.U(addressBits.W))
  private val held = RegInit(0.U((addressBits + 1).W))
  private val last = Reg(UInt((8 * bytes).W))

  private val fill = tail(lineBits - 1, 0)
  private val placed = Lines.rotate(window, (fill - at)(lineBits - 1, 0), bytes)
  private val kept = Lines.below(fill, bytes)
  private val merged = (last & kept) | (placed & ~kept)
  private val crosses = fill +& count >= bytes.U
  private val tailLine = tail >> lineBits
  when(count =/= 0.U) { last := Mux(crosses, placed, merged) }

  // The line after the last is written with it: what spilled over, or bytes that later ones replace. `roomy` keeps it free.
  for (bank <- 0 until 2) {
    val here = tailLine(0) === bank.U
    banks.write(bank) := count =/= 0.U
    banks.data(bank) := Mux(here, merged, placed)
    banks.row(bank) := Mux(here, tailLine >> 1, (tailLine + 1.U)(addressBits - lineBits - 1, 0) >> 1)
  }

  private val start = head - skew
  banks.read := read
  banks.start(0) := start
  line := Lines.align(banks.pair(0), RegEnable(start(lineBits - 1, 0), read), bytes)

  tail := tail + count
  head := head + taken
  held := held + count - taken
  when(clear) {
    tail := 0.U
    head := 0.U
    held := 0.U
  }
  roomy := held <= (params.literalBytes - 3 * bytes).U
}
