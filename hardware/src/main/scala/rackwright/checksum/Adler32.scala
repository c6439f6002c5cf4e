package rackwright.checksum

import chisel3._
import chisel3.util._

/** The checksum of RFC 1950, section 8.2, of stripes and of single bytes.
  *
  * Both sums are stored modulo 65521, with a few excess bits, which are folded back by 2^16^ = 15 (modulo 65521) in the
  * next addition; a sum is a single addition deep.
  */
class Adler32Sum(stripeBytes: Int) extends Module {
  private val modulus = 65521
  private val fold = 65536 - modulus
  private val groups = stripeBytes / 4
  private val sumBits = 18

  val start = IO(Input(Bool()))
  val stripe = IO(Flipped(Valid(UInt((8 * stripeBytes).W))))

  /** A byte after all stripes, while no stripe is in progress. */
  val byte = IO(Flipped(Valid(UInt(8.W))))

  /** The checksum, two cycles after the last byte. */
  val value = IO(Output(UInt(32.W)))
  val busy = IO(Output(Bool()))

  private def folded(sum: UInt): UInt = sum(15, 0) +& (sum >> 16) * fold.U(4.W)
  private def reduced(sum: UInt): UInt = {
    val small = folded(sum)
    Mux(small >= modulus.U, small - modulus.U, small)(15, 0)
  }

  // Sums of four bytes each, then of all: each byte, and each byte times the number of bytes from it on.
  private val summing = RegNext(stripe.valid, false.B)
  private val (plain, weighted) = (0 until groups).map { group =>
    val bytes = (0 until 4).map(i => stripe.bits(32 * group + 8 * i + 7, 32 * group + 8 * i))
    val once = bytes.reduce(_ +& _)
    val times = ((bytes(0) << 2) +& (bytes(1) +& (bytes(1) << 1))) +& ((bytes(2) << 1) +& bytes(3))
    (RegEnable(once, stripe.valid), RegEnable(times, stripe.valid))
  }.unzip
  private val adding = RegNext(summing, false.B)
  private val behind = plain.zipWithIndex.map { case (sum, group) => sum * (groups - 1 - group).U }
  private val once = RegEnable(plain.reduceLeft(_ +& _), summing)
  private val times = RegEnable(weighted.reduceLeft(_ +& _), summing)
  private val timesBehind = RegEnable(behind.reduceLeft(_ +& _), summing)

  // The first sum, and its contribution to the second one.
  private val first = Reg(UInt(sumBits.W))
  private val second = Reg(UInt(sumBits.W))
  private val folding = RegNext(adding, false.B)
  private val gain = RegEnable((first << log2Ceil(stripeBytes)) +& times +& (timesBehind << 2), adding)
  private val gaining = RegNext(folding, false.B)
  private val smallGain = RegEnable(folded(gain), folding)
  private val counted = RegNext(byte.valid, false.B)
  when(adding) { first := folded(first) + once }
  when(byte.valid) { first := folded(first) + byte.bits }
  when(gaining) { second := folded(second) +& smallGain }
  when(counted) { second := folded(second) + first }
  when(start) {
    first := 1.U
    second := 0.U
  }
  value := RegNext(Cat(reduced(second), reduced(first)))
  busy := summing || adding || folding || gaining
}
