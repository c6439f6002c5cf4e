package rackwright.checksum

import chisel3._
import chisel3.util._

import rackwright.access.OutputLine
import rackwright.stream.Lines

/** Stripes of 32 bytes out of lines that begin anywhere. */
class StripeAligner(bytes: Int) extends Module {
  private val stripeBytes = 32
  val start = IO(Flipped(Valid(UInt(log2Ceil(bytes).W))))
  val line = IO(Flipped(Valid(new OutputLine(bytes))))
  val stripe = IO(Valid(UInt((8 * stripeBytes).W)))

  /** Bytes that don't fill a stripe, the first one lowest. */
  val rest = IO(Output(UInt((8 * stripeBytes).W)))
  val busy = IO(Output(Bool()))

  // Rotated, so that the first byte of the frame is at position 0; preceded by a register, because lines arrive late.
  private val begin = RegEnable(start.bits, start.valid)
  private val taken = Pipe(line)
  private val turning = RegNext(taken.valid, false.B)
  private val turned =
    RegEnable(Lines.rotate(taken.bits.data, (0.U - begin)(log2Ceil(bytes) - 1, 0), bytes), taken.valid)
  private val count = RegEnable(PopCount(taken.bits.mask), taken.valid)

  // Joined with the rest of the previous line.
  private val held = Reg(UInt((8 * bytes).W))
  private val filled = RegInit(0.U((log2Ceil(bytes) + 1).W))
  private val joined = Lines.merge(Lines.mask(filled, bytes), held, turned, bytes)
  private val total = filled +& count
  private val full = turning && total >= bytes.U
  when(turning) {
    held := Mux(full, turned, joined)
    filled := Mux(full, total - bytes.U, total)
  }
  when(start.valid) { filled := 0.U }

  private val parts = stripeBytes / bytes
  if (parts == 1) {
    stripe.valid := RegNext(full, false.B)
    stripe.bits := RegEnable(joined, full)
    rest := held
  } else {
    val half = RegInit(false.B)
    val lower = RegEnable(joined, full && !half)
    when(full) { half := !half }
    when(start.valid) { half := false.B }
    stripe.valid := RegNext(full && half, false.B)
    stripe.bits := RegEnable(Cat(joined, lower), full && half)
    rest := Mux(half, Cat(held, lower), held)
  }
  busy := taken.valid || turning || stripe.valid
}
