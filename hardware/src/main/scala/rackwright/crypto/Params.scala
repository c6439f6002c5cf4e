package rackwright.crypto

import chisel3.util.log2Ceil

import rackwright.port.MemoryPortParams

/** The parameters of the unit.
  *
  * @param portBytes
  *   bytes per beat of both memory ports.
  * @param outstanding
  *   beats outstanding on each port.
  * @param heldKib
  *   KiB of text that may wait for its tag.
  * @param commandQueue
  *   operations that may wait.
  */
case class Params(portBytes: Int, outstanding: Int, heldKib: Int, commandQueue: Int) {

  /** Shape of the read port. */
  val port: MemoryPortParams = MemoryPortParams(portBytes, log2Ceil(outstanding))

  /** Blocks of output that have a place. */
  val held: Int = heldKib * 1024 / 16

  /** Longest text whose tag is compared. */
  val longest: Int = 16 * (held - HeldBlocks.reserve)
}
