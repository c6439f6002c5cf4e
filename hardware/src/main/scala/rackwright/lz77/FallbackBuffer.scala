package rackwright.lz77

import chisel3._
import chisel3.util._

/** Where the bytes of one fall-back read go.
  *
  * The `count` bytes from byte `from` of the beat on go to the ring from position `to` on.
  */
class FallbackPlace(params: DecoderParams) extends Bundle {
  val from = UInt(params.lineBits.W)
  val count = UInt(params.countBits.W)
  val to = UInt(log2Ceil(params.fallbackBytes).W)
}

/** Bytes brought by fall-back reads, in output order: a ring of lines written in any order, each beat at its reserved
  * place.
  */
class FallbackBuffer(params: DecoderParams) extends Module {
  private val bytes = params.bytes
  private val lineBits = params.lineBits
  private val lines = params.fallbackBytes / bytes

  /** A beat of memory and its place. */
  val arrived = IO(Input(Bool()))
  val place = IO(Input(new FallbackPlace(params)))
  val beat = IO(Input(UInt((8 * bytes).W)))

  /** Reads one line of bytes from position `start` on, for the next cycle. */
  val read = IO(Input(Bool()))
  val start = IO(Input(UInt(log2Ceil(params.fallbackBytes).W)))
  val line = IO(Output(UInt((8 * bytes).W)))

  private val banks = Module(new LineBanks(bytes, lines, 1, masked = true))
  private val byte = place.to(lineBits - 1, 0)
  private val firstLine = place.to >> lineBits
  private val placed = Lines.rotate(beat, (byte - place.from)(lineBits - 1, 0), bytes)
  private val wanted = (((1.U << place.count) - 1.U)(bytes - 1, 0) << byte).pad(2 * bytes)
  private val (inFirst, inNext) = (wanted(bytes - 1, 0), wanted(2 * bytes - 1, bytes))

  for (bank <- 0 until 2) {
    val here = firstLine(0) === bank.U
    banks.write(bank) := arrived
    banks.data(bank) := placed
    banks.mask.get(bank) := Mux(here, inFirst, inNext)
    banks.row(bank) := Mux(here, firstLine >> 1, (firstLine + 1.U)(log2Ceil(lines) - 1, 0) >> 1)
  }

  banks.read := read
  banks.start(0) := start
  line := Lines.align(banks.pair(0), RegEnable(start(lineBits - 1, 0), read), bytes)
}
