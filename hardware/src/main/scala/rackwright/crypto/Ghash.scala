package rackwright.crypto

import chisel3._
import chisel3.util._

/** The sum of GCM over blocks (NIST SP 800-38D, section 6.4): a block every other cycle, whose sum is ready two cycles
  * later.
  *
  * Products are those of polynomials of 32 bits, three of which are combined to one of twice the length (Karatsuba and
  * Ofman 1963).
  */
class Ghash extends Module {
  import Ghash._

  /** The key, which begins a sum. */
  val key = IO(Flipped(Valid(UInt(128.W))))
  val block = IO(Flipped(Valid(UInt(128.W))))
  val sum = IO(Output(UInt(128.W)))

  private val factor = Reg(UInt(128.W))
  private val total = Reg(UInt(128.W))
  private val parts = Reg(Vec(9, UInt(63.W)))
  private val multiplied = RegNext(block.valid, false.B)

  private val operands = split(total ^ polynomial(block.bits)).zip(split(factor))
  for ((part, (one, other)) <- parts.zip(operands)) { part := carryless(one, other) }
  when(multiplied) { total := reduce(join(parts.grouped(3).map(three => join(three.toSeq, 32)).toSeq, 64)) }
  when(key.valid) {
    factor := polynomial(key.bits)
    total := 0.U
  }
  sum := polynomial(total)
  assert(!(multiplied && block.valid), "a block follows another one too soon")
}

object Ghash {

  /** A block as a polynomial, coefficient i in bit i, and back: the upper bit of each byte is the first. */
  private def polynomial(block: UInt): UInt =
    VecInit.tabulate(128)(i => block(i / 8 * 8 + 7 - i % 8)).asUInt

  /** Upper half, lower half, and their sum. */
  private def halves(value: UInt): Seq[UInt] = {
    val half = value.getWidth / 2
    val (high, low) = (value(2 * half - 1, half), value(half - 1, 0))
    Seq(high, low, high ^ low)
  }
  private def split(value: UInt): Seq[UInt] = halves(value).flatMap(halves)

  private def carryless(one: UInt, other: UInt): UInt =
    (0 until 32).map(i => (Mux(one(i), other, 0.U(32.W)) << i).pad(63)).reduce(_ ^ _)

  /** A product of two times `half` bits, from those of the upper halves, the lower halves, and their sums. */
  private def join(products: Seq[UInt], half: Int): UInt = {
    val (high, low, both) = (products(0), products(1), products(2))
    (high << (2 * half)).pad(4 * half - 1) ^ ((both ^ high ^ low) << half).pad(4 * half - 1) ^ low.pad(4 * half - 1)
  }

  /** The rest by x^128 + x^7 + x^2 + x + 1. */
  private def reduce(product: UInt): UInt = {
    def fold(above: UInt): UInt = Seq(0, 1, 2, 7).map(by => (above << by).pad(above.getWidth + 7)).reduce(_ ^ _)
    val once = fold(product(254, 128))
    product(127, 0) ^ once(127, 0) ^ fold(once >> 128)(127.min(once.getWidth - 128 + 6), 0)
  }
}
