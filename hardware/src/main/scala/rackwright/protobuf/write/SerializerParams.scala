package rackwright.protobuf.write

import chisel3.util._

import rackwright.port.MemoryPortParams

/** Parameters of the serializer.
  *
  * @param portBytes
  *   bytes per beat of the memory ports: 16 or 32.
  * @param lanes
  *   number of messages that are walked concurrently: 1, 2 or 4.
  * @param fieldSerializers
  *   strings and arrays that a lane reads concurrently: 2 to 16.
  * @param depth
  *   nesting depth that is kept on chip, including the top-level message: 2 to 100.
  * @param outstanding
  *   beats that the field serializers have outstanding together: a power of two, 8 to 128.
  * @param bufferBeats
  *   beats that each field serializer prefetches: a power of two, 4 to 64.
  * @param tableRows
  *   rows of 64 bytes of descriptor tables that each lane keeps on chip: a power of two, 8 to 128.
  * @param objectLines
  *   beats of objects that each lane keeps on chip: a power of two, 16 to 128.
  * @param mapEntries
  *   entries that the map sorter of each lane holds, shared by nested maps: a power of two, 8 to 256.
  * @param commandQueue
  *   capacity of the queue of requests: 1 to 16.
  */
case class SerializerParams(
    portBytes: Int = 32,
    lanes: Int = 2,
    fieldSerializers: Int = 16,
    depth: Int = 25,
    outstanding: Int = 64,
    bufferBeats: Int = 32,
    tableRows: Int = 128,
    objectLines: Int = 128,
    mapEntries: Int = 128,
    commandQueue: Int = 8
) {
  require(Set(16, 32).contains(portBytes), s"port-bytes is 16 or 32, not $portBytes")
  require(Set(1, 2, 4).contains(lanes), s"lanes is 1, 2 or 4, not $lanes")
  require(fieldSerializers >= 2 && fieldSerializers <= 16, s"field-serializers is 2 to 16, not $fieldSerializers")
  require(depth >= 2 && depth <= 100, s"depth is 2 to 100, not $depth")
  private def isPowerOfTwo(value: Int, least: Int, most: Int): Boolean =
    isPow2(value) && value >= least && value <= most
  require(isPowerOfTwo(outstanding, 8, 128), s"outstanding is a power of two from 8 to 128, not $outstanding")
  require(isPowerOfTwo(bufferBeats, 4, 64), s"buffer-beats is a power of two from 4 to 64, not $bufferBeats")
  require(isPowerOfTwo(tableRows, 8, 128), s"table-rows is a power of two from 8 to 128, not $tableRows")
  require(isPowerOfTwo(objectLines, 16, 128), s"object-lines is a power of two from 16 to 128, not $objectLines")
  require(isPowerOfTwo(mapEntries, 8, 256), s"map-entries is a power of two from 8 to 256, not $mapEntries")
  require(commandQueue >= 1 && commandQueue <= 16, s"command-queue is 1 to 16, not $commandQueue")

  /** Width of a nesting level; 0 is the top-level message. */
  val levelBits: Int = log2Ceil(depth)

  /** Width of the number of a field serializer. */
  val fieldBits: Int = log2Ceil(fieldSerializers)

  /** Requests that may wait for each lane. */
  val laneQueue: Int = (commandQueue + lanes - 1) / lanes

  /** Parameters of the port for a lane's rows of tables, beats of objects, string objects, and field serializers. */
  def rowPort: MemoryPortParams = port(tableRows)
  def stringPort: MemoryPortParams = port(Serializer.stringBeats)
  def objectPort: MemoryPortParams = port(objectLines)
  def bufferPort: MemoryPortParams = port(bufferBeats)

  /** Parameters of a port whose tag distinguishes `tags` requests. */
  def port(tags: Int): MemoryPortParams = MemoryPortParams(portBytes, log2Ceil(tags))
}
