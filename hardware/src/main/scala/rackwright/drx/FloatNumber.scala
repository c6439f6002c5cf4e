package rackwright.drx

import chisel3._
import chisel3.util._

/** A number of IEEE 754, binary32, taken apart: `significand * 2^(exponent - 150)`, with its sign. */
class FloatNumber(bits: UInt) {
  private val field = bits(30, 23)
  private val highest = field.andR
  private val normal = field.orR

  val sign: Bool = bits(31)

  /** At least 1: subnormal numbers have that of the smallest normal ones. */
  val exponent: UInt = Mux(normal, field, 1.U)
  val significand: UInt = Cat(normal, bits(22, 0))
  val zero: Bool = !bits(30, 0).orR
  val infinite: Bool = highest && !bits(22, 0).orR
  val nan: Bool = highest && bits(22, 0).orR
}

/** Numbers of binary32, and what becomes of them in other types. */
object FloatNumber {

  /** The one that is no number; operations give it in this form alone. */
  val nan: UInt = "h7fc00000".U(32.W)
  val one: UInt = "h3f800000".U(32.W)
  val minusZero: UInt = "h80000000".U(32.W)

  /** The whole number towards 0, or the nearest of 32 bits; 0 of what is no number. */
  def toInteger(bits: UInt): UInt = {
    val number = new FloatNumber(bits)
    // Bits of the exponent 2^31 are at the top; what is below the last is dropped.
    val beyond = number.exponent >= 158.U
    val distance = (158.U(9.W) - number.exponent)(7, 0)
    val raised = Cat(number.significand, 0.U(8.W))
    val whole = Mux(distance >= 32.U, 0.U, raised >> distance(4, 0))
    val most = Mux(number.sign, "h80000000".U(32.W), "h7fffffff".U(32.W))
    Mux(number.nan, 0.U, Mux(beyond, most, Mux(number.sign, 0.U - whole, whole)))
  }

  /** The nearest number of bfloat16, the even one of two, in its 16 bits. */
  def toShort(bits: UInt): UInt = {
    val number = new FloatNumber(bits)
    val rounded = bits +& (0x7fff.U +& bits(16))
    Mux(number.nan, nan(31, 16), rounded(31, 16))
  }
}
