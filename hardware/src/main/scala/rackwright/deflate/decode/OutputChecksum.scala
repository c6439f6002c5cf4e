package rackwright.deflate.decode

import chisel3._
import chisel3.util._

import rackwright.access.OutputLine
import rackwright.checksum.{Adler32Sum, Crc32Sum, StripeAligner}

/** Computes the checksum of the decompressed stream from the lines that are written to memory: Adler-32 (RFC 1950) or
  * CRC-32 (RFC 1952). One line per cycle; bytes that do not fill a stripe are added one by one.
  *
  * @param bytes
  *   bytes of a line, 16 or 32.
  */
class OutputChecksum(bytes: Int) extends Module {
  private val stripeBytes = 32
  private val restBits = log2Ceil(stripeBytes)

  /** A stream starts at this byte of its first line. */
  val start = IO(Flipped(Valid(UInt(log2Ceil(bytes).W))))
  val line = IO(Flipped(Valid(new OutputLine(bytes))))

  /** All lines of the stream have been given, held until `done`; the size of the stream in bytes. */
  val finish = IO(Input(Bool()))
  val length = IO(Input(UInt(32.W)))
  val done = IO(Output(Bool()))
  val adler = IO(Output(UInt(32.W)))
  val crc = IO(Output(UInt(32.W)))

  private object State extends ChiselEnum {
    val open, rest, settle, done = Value
  }
  private val state = RegInit(State.open)
  private val aligner = Module(new StripeAligner(bytes))
  private val adlerSum = Module(new Adler32Sum(stripeBytes))
  private val crcSum = Module(new Crc32Sum(stripeBytes))
  private val rest = Reg(UInt((8 * stripeBytes).W))
  private val left = Reg(UInt(restBits.W))
  private val settling = RegInit(0.U(2.W))

  aligner.start := start
  aligner.line := line
  adlerSum.start := start.valid
  crcSum.start := start.valid
  adlerSum.stripe := aligner.stripe
  crcSum.stripe := aligner.stripe
  private val taking = state === State.rest && left =/= 0.U
  for (byte <- Seq(adlerSum.byte, crcSum.byte)) {
    byte.valid := taking
    byte.bits := rest(7, 0)
  }

  private val quiet = finish && !line.valid && !aligner.busy && !adlerSum.busy && !crcSum.busy
  switch(state) {
    is(State.open) {
      when(quiet && RegNext(quiet, false.B)) {
        rest := aligner.rest
        left := length(restBits - 1, 0)
        state := State.rest
      }
    }
    is(State.rest) {
      rest := rest >> 8
      left := left - 1.U
      settling := 3.U
      when(left === 0.U) { state := State.settle }
    }
    is(State.settle) {
      settling := settling - 1.U
      when(settling === 0.U) { state := State.done }
    }
  }
  when(start.valid || (state === State.done && !finish)) { state := State.open }
  done := state === State.done
  adler := adlerSum.value
  crc := crcSum.value
}
