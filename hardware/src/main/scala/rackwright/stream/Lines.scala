package rackwright.stream

import chisel3._
import chisel3.util._

/** Shifts and masks of whole bytes in a line. */
object Lines {

  /** A line turned left: byte i moves to byte i + `by` modulo the line. */
  def rotate(line: UInt, by: UInt, bytes: Int): UInt = {
    val turned = Cat(line, line) << Cat(by, 0.U(3.W))
    turned(16 * bytes - 1, 8 * bytes)
  }

  /** A bit per byte: ones for the lowest `count` bytes, `count` from 0 to the whole line. */
  def mask(count: UInt, bytes: Int): UInt = Cat((0 until bytes).reverse.map(i => count > i.U))

  /** The bytes of `chosen` where `mask` has a one, and those of `other` elsewhere. */
  def merge(mask: UInt, chosen: UInt, other: UInt, bytes: Int): UInt =
    Cat((0 until bytes).reverse.map(i => Mux(mask(i), chosen(8 * i + 7, 8 * i), other(8 * i + 7, 8 * i))))
}
