package rackwright.daronpon

import chisel3._
import chisel3.util._

/** A bit-serial multiplier and divider for results that are seldom needed. */
class Arithmetic extends Module {
  private val bits = Sizes.countBits

  val start = IO(Input(Bool()))

  /** Computes a reciprocal of `right` instead of a product. */
  val divides = IO(Input(Bool()))
  val left = IO(Input(UInt(bits.W)))
  val right = IO(Input(UInt(bits.W)))
  val busy = IO(Output(Bool()))

  /** left times right; held until the next start. */
  val product = IO(Output(UInt((2 * bits).W)))

  /** 2^16 divided by `right`, rounded up; `right` must not be zero. */
  val reciprocal = IO(Output(UInt(bits.W)))

  private val steps = RegInit(0.U(log2Ceil(bits + 2).W))
  private val divide = Reg(Bool())
  private val divisor = Reg(UInt(bits.W))

  /** The upper half: the partial sum above the remaining multiplier, or the remainder above the remaining dividend. */
  private val high = Reg(UInt((bits + 1).W))
  private val low = Reg(UInt((bits + 1).W))

  busy := steps =/= 0.U
  product := Cat(high, low(bits, 1))(2 * bits - 1, 0)
  reciprocal := low(bits - 1, 0)

  when(start) {
    steps := Mux(divides, (bits + 1).U, bits.U)
    divide := divides
    divisor := right
    high := 0.U
    // The multiplier is shifted by one bit, so that the bit shifted out of the sum fits in below it.
    low := Mux(divides, (1 << 16).U + right - 1.U, Cat(left, 0.U(1.W)))
  }.elsewhen(busy) {
    steps := steps - 1.U
    when(divide) {
      val next = Cat(high(bits - 1, 0), low(bits))
      val fits = next >= divisor
      high := Mux(fits, next - divisor, next)
      low := Cat(low(bits - 1, 0), fits)
    }.otherwise {
      val sum = high +& Mux(low(1), divisor, 0.U)
      high := sum >> 1
      low := Cat(sum(0), low(bits, 1))
    }
  }
}
