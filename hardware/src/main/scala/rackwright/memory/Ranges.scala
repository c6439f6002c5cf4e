package rackwright.memory

import chisel3._

/** Arithmetic on ranges of memory. */
object Ranges {

  /** Whether `length` bytes from `address` go beyond the last address of `addressBits` bits.
    *
    * A range that ends exactly at the top of the address space does not wrap; an empty one never does.
    */
  def wraps(address: UInt, length: UInt, addressBits: Int = 64): Bool = {
    val lastByte = address +& (length - 1.U)
    length =/= 0.U && (lastByte >> addressBits).orR
  }
}
