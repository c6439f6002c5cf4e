package rackwright.protobuf.parse

import chisel3.util._

import rackwright.port.MemoryPortParams

/** Parameters of the deserializer.
  *
  * @param portBytes
  *   bytes per beat of the memory ports: 16 or 32.
  * @param outstanding
  *   beats outstanding per port: a power of two, 4 to 128.
  * @param depth
  *   nesting depth that is kept on chip, including the top-level message: 2 to 100.
  * @param descriptorLines
  *   lines of 16 bytes of descriptor tables kept on chip: a power of two, 64 to 4096.
  * @param storeLines
  *   capacity of the write-combining buffer in beats: a power of two, 4 to 16.
  * @param commandQueue
  *   capacity of the queue of requests: 1 to 16.
  */
case class DeserializerParams(
    portBytes: Int = 32,
    outstanding: Int = 128,
    depth: Int = 25,
    descriptorLines: Int = 2048,
    storeLines: Int = 16,
    commandQueue: Int = 8
) {
  require(Set(16, 32).contains(portBytes), s"port-bytes is 16 or 32, not $portBytes")
  require(
    isPow2(outstanding) && outstanding >= 4 && outstanding <= 128,
    s"outstanding is a power of two from 4 to 128, not $outstanding"
  )
  require(depth >= 2 && depth <= 100, s"depth is 2 to 100, not $depth")
  require(
    isPow2(descriptorLines) && descriptorLines >= 64 && descriptorLines <= 4096,
    s"descriptor-lines is a power of two from 64 to 4096, not $descriptorLines"
  )
  require(
    isPow2(storeLines) && storeLines >= 4 && storeLines <= 16,
    s"store-lines is a power of two from 4 to 16, not $storeLines"
  )
  require(commandQueue >= 1 && commandQueue <= 16, s"command-queue is 1 to 16, not $commandQueue")

  /** Parameters of each internal memory port. */
  val port: MemoryPortParams = MemoryPortParams(portBytes, log2Ceil(outstanding))
}
