package rackwright.access

import chisel3._
import chisel3.util.Cat

/** Arithmetic on ranges of memory. */
object Ranges {

  /** Whether `length` bytes from `address` go beyond the last address of `addressBits` bits.
    *
    * A range that ends exactly at the top of the address space does not wrap; an empty one never does.
    */
  def wraps(address: UInt, length: UInt, addressBits: Int = 64): Bool =
    length =/= 0.U && (address +& length) > (BigInt(1) << addressBits).U

  /** `place + by`, for a `by` that is known late and has fewer bits. */
  def advance(place: UInt, by: UInt): UInt = {
    val bits = by.getWidth
    val low = place(bits - 1, 0) +& by
    Cat(increment(place >> bits, low(bits)), low(bits - 1, 0))
  }

  /** `place + one`, for a wide place: the carry skips bytes of ones. */
  def increment(place: UInt, one: Bool): UInt = {
    val bytes = (0 until place.getWidth by 8).map(i => place((i + 7).min(place.getWidth - 1), i))
    val ones = bytes.map(_.andR)
    Cat(bytes.zipWithIndex.map { case (byte, i) => byte + (one && ones.take(i).fold(true.B)(_ && _)) }.reverse)
  }
}
