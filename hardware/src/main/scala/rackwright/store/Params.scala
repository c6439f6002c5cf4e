package rackwright.store

import chisel3.util.log2Ceil

import rackwright.port.MemoryPortParams

/** Parameters of the unit.
  *
  * @param lookups
  *   maximum number of concurrent lookups, a power of two.
  * @param outstanding
  *   beats outstanding on each streaming port, a power of two.
  * @param commandQueue
  *   capacity of the queue of operations.
  * @param text
  *   requests are commands of memcached's text protocol.
  */
case class Params(lookups: Int, outstanding: Int, commandQueue: Int, text: Boolean = false) {
  val slotBits: Int = log2Ceil(lookups)

  /** Parameters of the streaming ports. */
  val port: MemoryPortParams = MemoryPortParams(Grain.bytes, log2Ceil(outstanding))

  /** Parameters of the port of lookups, and of both ports of changes. */
  val index: MemoryPortParams = MemoryPortParams(Grain.bytes, slotBits)
}
