package rackwright.drx

import chisel3._
import chisel3.util._

/** `a * b + c` of binary32, rounded once to nearest (IEEE 754), in five pipeline stages, each of which is a function
  * here.
  *
  * The product is exact: its lowest bit is at position 26 of a word of 101 bits. The addend is aligned to it: the
  * positions down from 100 hold an addend that is so large that the product only affects rounding, and those below 26
  * hold the bits of a small one that can matter. Bits below position 0 are merged into a sticky bit.
  */
object MultiplyAdd {
  private val productPlace = 26

  /** The position of the lowest bit of the largest addend. */
  private val addendPlace = 76
  private val wordBits = 101
  private val significandBits = 24

  /** Bits of a significand that are multiplied at once: the partial products are added in the next stage. */
  private val partBits = 8

  /** Width of a signed exponent, which is that of position 0. */
  private val exponentBits = 11

  /** Values that are passed on from the first stage to the last. */
  class Result extends Bundle {

    /** The result is NaN, or infinite with `sign`. */
    val nan = Bool()
    val infinite = Bool()

    /** The sign of a result other than zero. */
    val sign = Bool()

    /** The sign of a result that is exactly zero. */
    val zeroSign = Bool()
  }

  /** After the first stage: product and addend, aligned. */
  class Aligned extends Bundle {
    val result = new Result

    /** The partial products of the first significand with parts of the second, lowest first; and the first significand
      * alone, for a product with one.
      */
    val products = Vec(significandBits / partBits, UInt((significandBits + partBits).W))
    val significand = UInt(significandBits.W)
    val addend = UInt(wordBits.W)

    /** Sticky bits of parts of the addend below position 0. */
    val below = UInt(7.W)

    /** The signs differ; the sign of the addend. */
    val subtracts = Bool()
    val addendSign = Bool()
    val exponent = SInt(exponentBits.W)
  }

  /** After the second stage: the sum, which may be negative. */
  class Summed extends Bundle {
    val result = new Result
    val sum = SInt((wordBits + 1).W)
    val sticky = Bool()
    val exponent = SInt(exponentBits.W)
  }

  /** After the third stage: the magnitude, and its number of leading zeros. */
  class Counted extends Bundle {
    val result = new Result
    val magnitude = UInt(wordBits.W)
    val zeros = UInt(7.W)
    val sticky = Bool()
    val exponent = SInt(exponentBits.W)
  }

  /** After the fourth stage: the significand, the round bit, and the sticky bit. */
  class Normalised extends Bundle {
    val result = new Result
    val significand = UInt(24.W)
    val guard = Bool()
    val sticky = Bool()
    val exponent = SInt(exponentBits.W)
  }

  /** First stage, of the product of two numbers and an addend, or, with `adds`, of the first number and an addend.
    *
    * The long paths do not depend on `adds`, which selects between results.
    */
  def align(first: UInt, second: UInt, third: UInt, adds: Bool): Aligned = {
    val (a, b) = (new FloatNumber(first), new FloatNumber(Mux(adds, FloatNumber.one, second)))
    val (factor, c) = (new FloatNumber(second), new FloatNumber(third))
    val nothing = a.zero || b.zero
    val sign = a.sign ^ b.sign
    val out = Wire(new Aligned)
    val infinite = a.infinite || b.infinite
    out.result.nan := a.nan || b.nan || c.nan || (infinite && nothing) ||
      (infinite && c.infinite && sign =/= c.sign)
    out.result.infinite := infinite || c.infinite
    out.result.sign := Mux(!infinite && c.infinite, c.sign, sign)
    out.result.zeroSign := sign && c.sign
    out.subtracts := sign =/= c.sign
    out.addendSign := c.sign
    for ((product, part) <- out.products.zipWithIndex) {
      product := a.significand * factor.significand(partBits * (part + 1) - 1, partBits * part)
    }
    out.significand := a.significand

    // The addend has its lowest bit at position 76 minus `distance`. An addend that would need to be further left, or
    // that is added to zero, stays there and determines the exponent.
    val distance = (a.exponent +& b.exponent).zext - c.exponent.zext - 100.S
    val stays = nothing || (distance < 0.S && !c.zero)
    val shift = Mux(stays || distance < 0.S, 0.U, Mux(distance > 127.S, 127.U, distance.asUInt(6, 0)))
    val shifted = Cat(c.significand, 0.U((addendPlace + 24).W)) >> shift
    out.addend := shifted(addendPlace + 47, 24)
    // The 24 bits below position 0, and the bits shifted out of them.
    val parts = Seq.tabulate(6)(part => shifted(4 * part + 3, 4 * part).orR)
    out.below := VecInit(parts :+ (shift >= (addendPlace + 24).U && !c.zero)).asUInt
    out.exponent := Mux(
      stays,
      c.exponent.zext - (150 + addendPlace).S,
      (a.exponent +& b.exponent).zext - (300 + productPlace).S
    )
    out
  }

  /** Second stage, with the `adds` of the first. */
  def add(in: Aligned, adds: Bool): Summed = {
    val out = Wire(new Summed)
    val whole = Cat(in.significand, 0.U((significandBits - 1).W))
    val products = in.products.zipWithIndex.map { case (product, part) =>
      // For a product with one, only the highest partial product is nonzero.
      val single = if (part == in.products.size - 1) whole >> (partBits * part) else 0.U
      Cat(Mux(adds, single, product), 0.U((productPlace + partBits * part).W)).pad(wordBits + 1)
    }
    val addend = in.addend.pad(wordBits + 1) ^ Fill(wordBits + 1, in.subtracts)
    val sticky = in.below.orR
    // If bits below position 0 are subtracted, the sum is one less, plus a fraction.
    val carry = in.subtracts && !sticky
    val (first, second) = summands(products :+ addend)
    out.sum := (first + second + carry)(wordBits, 0).asSInt
    out.result := in.result
    out.sticky := sticky
    out.exponent := in.exponent
    when(in.subtracts && out.sum < 0.S && !in.result.infinite) { out.result.sign := in.addendSign }
    out
  }

  /** Reduces several numbers to two with the same sum, by carry-save adders. */
  private def summands(numbers: Seq[UInt]): (UInt, UInt) =
    if (numbers.size == 2) (numbers(0), numbers(1))
    else {
      val (a, b, c) = (numbers(0), numbers(1), numbers(2))
      val carries = ((a & b) | (a & c) | (b & c)) << 1
      summands(numbers.drop(3) ++ Seq(a ^ b ^ c, carries(a.getWidth - 1, 0)))
    }

  /** The sum of integers of `bits`, modulo 2^bits. */
  def sum(bits: Int, numbers: Seq[UInt]): UInt = {
    val (first, second) = summands(numbers.map(number => WireInit(UInt(bits.W), number)))
    (first + second)(bits - 1, 0)
  }

  /** Replaces the second stage for an integer. */
  def whole(number: UInt): Summed = {
    val out = Wire(new Summed)
    out.sum := Cat(number, 0.U(productPlace.W)).asSInt
    out.sticky := false.B
    out.exponent := (-productPlace).S
    out.result.nan := false.B
    out.result.infinite := false.B
    out.result.sign := number(31)
    out.result.zeroSign := false.B
    out
  }

  /** Third stage. */
  def count(in: Summed): Counted = {
    val out = Wire(new Counted)
    out.magnitude := Mux(in.sum < 0.S, -in.sum, in.sum).asUInt(wordBits - 1, 0)
    out.zeros := leadingZeros(Cat(out.magnitude, ~0.U((128 - wordBits).W)))
    out.result := in.result
    out.sticky := in.sticky
    out.exponent := in.exponent
    out
  }

  /** Fourth stage. */
  def normalise(in: Counted): Normalised = {
    val out = Wire(new Normalised)
    // For a subnormal result, the bit of weight 2^-149 becomes the last; below 0, all bits are less than half of it.
    val most = in.exponent + 226.S
    val tiny = most < 0.S
    val subnormal = most < in.zeros.zext
    val shifted = (in.magnitude << Mux(subnormal, most.asUInt(6, 0), in.zeros))(wordBits - 1, 0)
    out.significand := Mux(tiny, 0.U, shifted(wordBits - 1, wordBits - 24))
    out.guard := !tiny && shifted(wordBits - 25)
    out.sticky := in.sticky || shifted(wordBits - 26, 0).orR
    out.exponent := Mux(subnormal || !out.significand(23), 0.S, most + 1.S - in.zeros.zext)
    out.result := in.result
    // The integer zero has a positive sign.
    when(!in.magnitude.orR && !in.sticky && !in.result.infinite) { out.result.sign := in.result.zeroSign }
    out
  }

  /** Number of leading zeros of a word, whose width is a power of two. */
  private def leadingZeros(word: UInt): UInt =
    if (word.getWidth == 2) !word(1)
    else {
      val half = word.getWidth / 2
      val (upper, lower) = (word(2 * half - 1, half), word(half - 1, 0))
      val none = !upper.orR
      Cat(none, Mux(none, leadingZeros(lower), leadingZeros(upper)))
    }

  /** Fifth stage: the bits of the result. */
  def round(in: Normalised): UInt = {
    val up = in.guard && (in.significand(0) || in.sticky)
    // A carry out of the significand increments the exponent.
    val rounded = Cat(in.exponent(7, 0), in.significand(22, 0)) + up
    val infinite = in.result.infinite || in.exponent >= 255.S || rounded(30, 23).andR
    Mux(in.result.nan, FloatNumber.nan, Cat(in.result.sign, Mux(infinite, "h7f800000".U(31.W), rounded)))
  }
}
