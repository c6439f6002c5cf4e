package rackwright.crypto

import chisel3._

/** GF(2^8) as pairs over GF(2^4), where an inverse is cheap: y^2 + y + lambda over x^4 + x + 1 (Satoh et al. 2001).
  *
  * Numbers are computed when the unit is elaborated; circuits consist of sums of bits.
  */
object TowerField {

  /** A product in GF(2^bits) with the polynomial `modulus`. */
  private def product(a: Int, b: Int, modulus: Int, bits: Int): Int = {
    val whole = (0 until bits).filter(i => (b >> i & 1) == 1).map(a << _).foldLeft(0)(_ ^ _)
    (2 * bits - 2 to bits by -1).foldLeft(whole) { (rest, i) =>
      if ((rest >> i & 1) == 1) rest ^ (modulus << (i - bits)) else rest
    }
  }

  /** In GF(2^4). */
  private def small(a: Int, b: Int): Int = product(a, b, 0x13, 4)

  /** The smallest number for which the polynomial of the pairs has no root. */
  private val lambda: Int = (1 until 16).find(l => (0 until 16).forall(y => (small(y, y) ^ y ^ l) != 0)).get

  /** Of pairs, the upper half in the upper four bits. */
  private def pairs(a: Int, b: Int): Int = {
    val (ah, al, bh, bl) = (a >> 4, a & 15, b >> 4, b & 15)
    val high = small(ah, bh)
    ((high ^ small(ah, bl) ^ small(al, bh)) << 4) | (small(high, lambda) ^ small(al, bl))
  }

  /** A sum of columns: a matrix over bits, by the contribution of each bit of the input. */
  case class Linear(columns: Seq[Int]) {
    def apply(value: Int): Int =
      columns.zipWithIndex.filter { case (_, i) => (value >> i & 1) == 1 }.map(_._1).foldLeft(0)(_ ^ _)
    def after(first: Linear): Linear = Linear(first.columns.map(apply))
    def inverse: Linear = {
      val back = (0 until 256).map(value => apply(value) -> value).toMap
      Linear((0 until 8).map(i => back(1 << i)))
    }

    /** The circuit. */
    def apply(value: UInt): UInt = Circuit.bits(8) { row =>
      Circuit.sum(columns.zipWithIndex.filter { case (column, _) => (column >> row & 1) == 1 }.map(c => value(c._2)))
    }
  }

  /** From the numbers of FIPS 197 to pairs: x is mapped to a root of its polynomial, x^8 + x^4 + x^3 + x + 1. */
  val toPairs: Linear = {
    def powers(root: Int): Seq[Int] = Seq.iterate(1, 9)(pairs(_, root))
    val root = (2 until 256).find { candidate =>
      val power = powers(candidate)
      (power(8) ^ power(4) ^ power(3) ^ power(1) ^ 1) == 0
    }.get
    Linear(powers(root).take(8))
  }

  val fromPairs: Linear = toPairs.inverse

  /** The norm of a pair, in GF(2^4): the inverse of h y + l is (h y + h + l) / norm. */
  def norm(high: UInt, low: UInt): UInt = squareLambda(high) ^ times(high, low) ^ square(low)

  private def smallLinear(f: Int => Int)(value: UInt): UInt = Circuit.bits(4) { row =>
    Circuit.sum((0 until 4).filter(i => (f(1 << i) >> row & 1) == 1).map(value(_)))
  }
  private def square(value: UInt): UInt = smallLinear(a => small(a, a))(value)
  private def squareLambda(value: UInt): UInt = smallLinear(a => small(small(a, a), lambda))(value)

  /** A product in GF(2^4). */
  def times(a: UInt, b: UInt): UInt = Circuit.bits(4) { row =>
    Circuit.sum(
      for (i <- 0 until 4; j <- 0 until 4 if (small(1 << i, 1 << j) >> row & 1) == 1) yield a(i) && b(j)
    )
  }

  /** The inverse in GF(2^4), and 0 of 0. */
  def reciprocal(value: UInt): UInt =
    VecInit((0 until 16).map(a => (1 until 16).find(small(a, _) == 1).getOrElse(0).U(4.W)))(value)
}

/** Sums of bits as circuits. */
object Circuit {
  def sum(bits: Seq[Bool]): Bool = if (bits.isEmpty) false.B else VecInit(bits).asUInt.xorR
  def bits(count: Int)(bit: Int => Bool): UInt = VecInit.tabulate(count)(bit).asUInt
}
