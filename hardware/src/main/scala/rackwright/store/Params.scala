package rackwright.store

import chisel3.util.log2Ceil

import rackwright.port.MemoryPortParams

/** What the user says about the unit.
  *
  * @param lookups
  *   requests whose keys are looked for at the same time, a power of two.
  * @param outstanding
  *   beats outstanding on each streaming port, a power of two.
  * @param commandQueue
  *   operations that may wait.
  */
case class Params(lookups: Int, outstanding: Int, commandQueue: Int) {
  val slotBits: Int = log2Ceil(lookups)

  /** Shape of the streaming ports. */
  val port: MemoryPortParams = MemoryPortParams(Grain.bytes, log2Ceil(outstanding))

  /** Shape of the port of lookups and of each of the two of changes. */
  val index: MemoryPortParams = MemoryPortParams(Grain.bytes, slotBits)
}
