package rackwright.nic

import chisel3._
import chisel3.util._

/** The ones' complement sum of 16-bit words, high byte first (RFC 1071). */
object InternetSum {

  /** Two sums made one. */
  def add(a: UInt, b: UInt): UInt = fold(a +& b)

  /** `sum` with the bytes of `data` that `mask` names added.
    *
    * @param odd
    *   byte 0 of `data` is the low byte of a word.
    */
  def extend(sum: UInt, data: UInt, mask: UInt, odd: Bool): UInt = {
    val bytes = (0 until Frame.flitBytes).map(i => Mux(mask(i), data(8 * i + 7, 8 * i), 0.U(8.W)))
    val words = bytes.grouped(2).map(Cat(_)).toSeq
    val added = fold(words.reduce(_ +& _))
    // Words that begin one byte earlier have their bytes swapped, and so has their sum.
    add(sum, Mux(odd, Cat(added(7, 0), added(15, 8)), added))
  }

  private def fold(wide: UInt): UInt = {
    val once = wide(15, 0) +& (wide >> 16)
    once(15, 0) + once(16)
  }
}
