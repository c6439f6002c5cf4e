package rackwright.drx

import chisel3._
import chisel3.util._

/** A decoded number of IEEE 754 binary32: its sign and `significand * 2^(exponent - 150)`. */
class FloatNumber(bits: UInt) {
  private val field = bits(30, 23)
  private val highest = field.andR
  private val normal = field.orR

  val sign: Bool = bits(31)

  /** At least 1: subnormal numbers have the exponent of the smallest normal number. */
  val exponent: UInt = Mux(normal, field, 1.U)
  val significand: UInt = Cat(normal, bits(22, 0))
  val zero: Bool = !bits(30, 0).orR
  val infinite: Bool = highest && !bits(22, 0).orR
  val nan: Bool = highest && bits(22, 0).orR
}

/** Conversions of binary32 numbers. */
object FloatNumber {

  /** The canonical NaN, the only one that operations return. */
  val nan: UInt = "h7fc00000".U(32.W)
  val one: UInt = "h3f800000".U(32.W)
  val minusZero: UInt = "h80000000".U(32.W)

  /** Converts to a 32-bit integer, rounding towards zero and saturating; NaN becomes 0. */
  def toInteger(bits: UInt): UInt = {
    val number = new FloatNumber(bits)
    // The exponent 2^31 corresponds to the top bit; bits below the last are dropped.
    val beyond = number.exponent >= 158.U
    val distance = (158.U(9.W) - number.exponent)(7, 0)
    val raised = Cat(number.significand, 0.U(8.W))
    val whole = Mux(distance >= 32.U, 0.U, raised >> distance(4, 0))
    val most = Mux(number.sign, "h80000000".U(32.W), "h7fffffff".U(32.W))
    Mux(number.nan, 0.U, Mux(beyond, most, Mux(number.sign, 0.U - whole, whole)))
  }

  /** Rounds to the nearest bfloat16, ties to even; returns its 16 bits. */
  def toShort(bits: UInt): UInt = {
    val number = new FloatNumber(bits)
    val rounded = bits +& (0x7fff.U +& bits(16))
    Mux(number.nan, nan(31, 16), rounded(31, 16))
  }
}
