package rackwright.checksum

import chisel3._
import chisel3.util._

/** Numbers and arithmetic of XXH64 (xxHash specification 0.1.1, section "XXH64 algorithm description"). */
object Xxh64 {
  val width: Int = 64
  val primes: Seq[BigInt] =
    Seq("9E3779B185EBCA87", "C2B2AE3D27D4EB4F", "165667B19E3779F9", "85EBCA77C2B2AE63", "27D4EB2F165667C5")
      .map(BigInt(_, 16))

  /** The n-th prime of the specification, from 1. */
  def prime(n: Int): UInt = primes(n - 1).U(width.W)

  /** The initial values of the four lanes, with the seed 0. */
  val lanes: Seq[BigInt] = {
    val modulus = BigInt(1) << width
    Seq((primes(0) + primes(1)) % modulus, primes(1), BigInt(0), modulus - primes(0))
  }

  def rotate(value: UInt, by: Int): UInt = Cat(value(width - 1 - by, 0), value(width - 1, width - by))

  /** Two numbers whose sum is that of `terms`, modulo 2^64: rows of full adders, without a carry from bit to bit. */
  @scala.annotation.tailrec
  def carrySave(terms: Seq[UInt]): (UInt, UInt) = terms match {
    case Seq(one) => (one, 0.U(width.W))
    case Seq(one, other) => (one, other)
    case _ =>
      carrySave(terms.grouped(3).toSeq.flatMap {
        case Seq(a, b, c) => Seq(a ^ b ^ c, Cat(((a & b) | (a & c) | (b & c))(width - 2, 0), 0.U(1.W)))
        case rest => rest
      })
  }

  /** Two numbers whose sum is `value` times the n-th prime, modulo 2^64. */
  def times(value: UInt, n: Int): (UInt, UInt) = {
    val digits = signedDigits(primes(n - 1))
    // Minus a term is its complement and one; the ones are a term of their own.
    val shifted = digits.map { case (place, negative) =>
      val term = (value << place)(width - 1, 0)
      if (negative) ~term else term
    }
    carrySave(shifted :+ digits.count(_._2).U(width.W))
  }

  /** Places of the digits 1 and -1 of a number, no two of them neighbours (the non-adjacent form). */
  private[checksum] def signedDigits(number: BigInt): Seq[(Int, Boolean)] = Iterator
    .unfold((number, 0)) { case (rest, place) =>
      Option.when(rest != 0 && place < width) {
        val digit = if (!rest.testBit(0)) 0 else if (rest.testBit(1)) -1 else 1
        ((place, digit), ((rest - digit) >> 1, place + 1))
      }
    }
    .collect { case (place, digit) if digit != 0 => (place, digit < 0) }
    .toSeq
}

/** One of the four lanes of XXH64: takes 8 bytes of every stripe. A stripe every second cycle. */
class Xxh64Lane(initial: BigInt) extends Module {
  val start = IO(Input(Bool()))
  val input = IO(Flipped(Valid(UInt(Xxh64.width.W))))

  /** The value of the lane, three cycles after the last input. */
  val value = IO(Output(UInt(Xxh64.width.W)))
  val busy = IO(Output(Bool()))

  // The input times the second prime, in two stages.
  private val first = RegNext(input.valid, false.B)
  private val (productSum, productCarry) = Xxh64.times(input.bits, 2)
  private val product = RegNext(RegNext(productSum) + RegNext(productCarry))
  private val second = RegNext(first, false.B)

  // The loop: addition and turn in one cycle, the first prime in the next.
  private val sum = Reg(UInt(Xxh64.width.W))
  private val carry = Reg(UInt(Xxh64.width.W))
  private val (s, c) = Xxh64.carrySave(Seq(sum, carry, product))
  private val turned = RegEnable(Xxh64.rotate(s + c, 31), second)
  private val third = RegNext(second, false.B)
  private val (nextSum, nextCarry) = Xxh64.times(turned, 1)
  when(third) {
    sum := nextSum
    carry := nextCarry
  }
  when(start) {
    sum := initial.U
    carry := 0.U
  }
  value := RegNext(sum + carry)
  busy := first || second || third || RegNext(third, false.B)
}

/** A number times one of the primes modulo 2^64, 8 bits of the prime per cycle. */
class Xxh64Multiplier extends Module {
  private val digit = 8

  /** A number, and which prime, from 1. */
  val input = IO(Flipped(Valid(new Bundle {
    val value = UInt(Xxh64.width.W)
    val prime = UInt(3.W)
  })))

  /** In the cycle after it was worked out. */
  val output = IO(Valid(UInt(Xxh64.width.W)))

  private val left = RegInit(0.U(4.W))
  private val value = Reg(UInt(Xxh64.width.W))
  private val factor = Reg(UInt(Xxh64.width.W))
  private val product = Reg(UInt(Xxh64.width.W))
  private val terms = Seq.tabulate(digit)(i => Mux(factor(i), (value << i)(Xxh64.width - 1, 0), 0.U))
  private val (s, c) = Xxh64.carrySave(product +: terms)
  when(left =/= 0.U) {
    left := left - 1.U
    product := s + c
    value := value << digit
    factor := factor >> digit
  }
  when(input.valid) {
    left := (Xxh64.width / digit).U
    value := input.bits.value
    factor := Mux1H((1 to 5).map(n => (input.bits.prime === n.U) -> Xxh64.prime(n)))
    product := 0.U
  }
  output.valid := RegNext(left === 1.U && !input.valid, false.B)
  output.bits := product
}
