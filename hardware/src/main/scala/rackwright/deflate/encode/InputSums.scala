package rackwright.deflate.encode

import chisel3._
import chisel3.util._

import rackwright.checksum.{Adler32Sum, Crc32Sum}

/** Computes Adler-32 and CRC-32 of the input of an operation, from the words that the LZ77 encoder consumes. */
class InputSums extends Module {
  private val wordBytes = 8
  private val settlingCycles = 4

  /** Up to eight bytes, the first one lowest; eight in every word but the last. */
  val data = IO(Input(UInt((8 * wordBytes).W)))
  val count = IO(Input(UInt(4.W)))

  /** Size of the whole input in bytes, once it is known. */
  val length = IO(Flipped(Valid(UInt(32.W))))

  /** The sums cover the whole input. */
  val done = IO(Output(Bool()))
  val adler = IO(Output(UInt(32.W)))
  val crc = IO(Output(UInt(32.W)))

  private val fresh = RegNext(true.B, false.B)
  private val arrived = RegNext(count =/= 0.U, false.B)
  private val word = RegNext(data)
  private val bytes = RegNext(count)
  private val whole = arrived && bytes === wordBytes.U
  private val taken = RegInit(0.U(32.W))
  when(arrived) { taken := taken + bytes }

  // The last word may be shorter: its bytes are added one by one, after the words before.
  private val rest = Reg(UInt((8 * wordBytes).W))
  private val left = RegInit(0.U(4.W))
  private val settled = RegInit(0.U(log2Ceil(settlingCycles + 1).W))
  private val adlerSum = Module(new Adler32Sum(wordBytes))
  private val crcSum = Module(new Crc32Sum(wordBytes))
  private val quiet = !arrived && !adlerSum.busy && !crcSum.busy
  private val gives = left =/= 0.U && quiet
  when(arrived && !whole) {
    rest := word
    left := bytes
  }
  when(gives) {
    rest := rest >> 8
    left := left - 1.U
  }
  adlerSum.start := !fresh
  crcSum.start := !fresh
  for (stripe <- Seq(adlerSum.stripe, crcSum.stripe)) {
    stripe.valid := whole
    stripe.bits := word
  }
  for (byte <- Seq(adlerSum.byte, crcSum.byte)) {
    byte.valid := gives
    byte.bits := rest(7, 0)
  }

  private val all = length.valid && taken === length.bits && quiet && left === 0.U
  when(!all) { settled := 0.U }.elsewhen(settled =/= settlingCycles.U) { settled := settled + 1.U }
  done := settled === settlingCycles.U
  adler := adlerSum.value
  crc := crcSum.value
}
