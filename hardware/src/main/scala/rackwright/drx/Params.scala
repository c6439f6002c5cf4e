package rackwright.drx

import chisel3.util.{isPow2, log2Ceil}

import rackwright.port.MemoryPortParams

/** The parameters of a DRX that its user chooses.
  *
  * @param lanes
  *   elements computed in a cycle.
  * @param scratchpadKib
  *   size of the scratchpad.
  * @param banks
  *   parts of the scratchpad that are accessed at the same time, each a range of addresses.
  * @param instructionKib
  *   size of the instruction memory.
  * @param loopDepth
  *   loops within each other.
  * @param portBytes
  *   bytes per beat of both memory ports.
  * @param outstanding
  *   beats outstanding on each port.
  * @param commandQueue
  *   operations that may wait.
  */
case class Params(
    lanes: Int = 32,
    scratchpadKib: Int = 64,
    banks: Int = 4,
    instructionKib: Int = 64,
    loopDepth: Int = 6,
    portBytes: Int = 32,
    outstanding: Int = 64,
    commandQueue: Int = 4
) {

  /** Bytes that a lane computes in a cycle, with the widest type. */
  val laneBytes: Int = 4

  /** Bytes of a vector of the widest type, which is also the size of a scratchpad line. */
  val lineBytes: Int = laneBytes * lanes
  val scratchpadBytes: Int = 1024 * scratchpadKib
  val lines: Int = scratchpadBytes / lineBytes
  require(isPow2(lanes) && lineBytes >= portBytes, s"a line of $lanes lanes is less than a beat of $portBytes bytes")
  require(
    lines >= 4 * banks,
    s"a scratchpad of $scratchpadKib KiB in $banks banks has less than four lines of $lanes lanes in each"
  )

  /** Capacity of the instruction memory in instructions. */
  val instructions: Int = 1024 * instructionKib / 4

  /** Widths of a scratchpad address, of an offset in a line, of a number of bytes, and of indices of lines and banks.
    */
  val addressBits: Int = log2Ceil(scratchpadBytes)
  val offsetBits: Int = log2Ceil(lineBytes)
  val countBits: Int = log2Ceil(lineBytes + 1)
  val lineBits: Int = log2Ceil(lines)
  val bankBits: Int = log2Ceil(banks)

  /** Width of a number of elements of a chunk, which may be bytes. */
  val elementBits: Int = log2Ceil((lanes << Packing.most) + 1)

  /** Width of an instruction index, which includes the one after the last. */
  val indexBits: Int = log2Ceil(instructions + 1)

  /** Width of a number of open loops. */
  val depthBits: Int = log2Ceil(loopDepth + 1)

  /** Parameters of the memory read port. */
  val port: MemoryPortParams = MemoryPortParams(portBytes, log2Ceil(outstanding))
}
