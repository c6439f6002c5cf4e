package rackwright.copy

import chisel3.util.log2Ceil

import rackwright.port.MemoryPortParams

/** The parameters of a copy unit.
  *
  * @param portBytes
  *   bytes per beat of both memory ports.
  * @param streamBytes
  *   the most bytes moved in a cycle.
  * @param outstanding
  *   beats outstanding on each port.
  * @param commandQueue
  *   operations that may wait.
  */
case class Params(portBytes: Int = 32, streamBytes: Int = 32, outstanding: Int = 64, commandQueue: Int = 4) {

  /** Shape of the read port. */
  val port: MemoryPortParams = MemoryPortParams(portBytes, log2Ceil(outstanding))
}
