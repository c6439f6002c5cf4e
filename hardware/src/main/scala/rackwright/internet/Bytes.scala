package rackwright.internet

import chisel3._
import chisel3.util._

/** Numbers in the order of the network: the high byte first. */
object Bytes {

  /** The number whose `bytes` bytes begin at byte `first` of `data`. */
  def number(data: UInt, first: Int, bytes: Int): UInt =
    Cat((first until first + bytes).map(i => data(8 * i + 7, 8 * i)))

  /** Numbers of whole bytes, concatenated, the first byte in the low bits as in a flit. */
  def join(numbers: UInt*): UInt = {
    val all = Cat(numbers)
    require(all.getWidth % 8 == 0, s"${all.getWidth} bits are no whole bytes")
    Cat((0 until all.getWidth / 8).map(i => all(8 * i + 7, 8 * i)))
  }
}
