package rackwright.compression

import chisel3._
import chisel3.util._

import rackwright.operation.{Operation, Setting}
import rackwright.port.MemoryPortParams

/** The memory and software interface of a unit that converts one stream to another.
  *
  * @param portBytes
  *   bytes per beat of the memory ports: 16 or 32.
  * @param outstanding
  *   beats outstanding per port: a power of two, 4 to 64.
  * @param commandQueue
  *   operations that may wait: 1 to 8.
  * @param streaming
  *   whether the input of an operation may arrive in pieces.
  */
case class StreamSizes(
    portBytes: Int = 32,
    outstanding: Int = 64,
    commandQueue: Int = 4,
    streaming: Boolean = false
) {
  require(Set(16, 32).contains(portBytes), s"port-bytes is 16 or 32, not $portBytes")
  require(
    isPow2(outstanding) && outstanding >= 4 && outstanding <= 64,
    s"outstanding is a power of two from 4 to 64, not $outstanding"
  )
  require(commandQueue >= 1 && commandQueue <= 8, s"command-queue is 1 to 8, not $commandQueue")

  /** The same with the whole input of an operation at its start. */
  def whole: StreamSizes = copy(streaming = false)
}

/** The common parameters of compressors and decompressors. */
trait StreamParams {

  /** Their ports, and the commands that may wait. */
  def stream: StreamSizes

  def portBytes: Int = stream.portBytes
  def outstanding: Int = stream.outstanding
  def commandQueue: Int = stream.commandQueue
  def streaming: Boolean = stream.streaming

  /** Each of the ports inside the unit. */
  val port: MemoryPortParams = MemoryPortParams(portBytes, log2Ceil(outstanding))

  /** MORE_INPUT: 1 if more input follows after the start. One bit more than needed, so that too much is seen. */
  lazy val moreInput: Setting = Setting("more_input", 13, 2, 0, "1: input follows after the start")
  def streamingSettings: Seq[Setting] = if (streaming) Seq(moreInput) else Seq()

  /** Whether the input of an operation arrives in pieces; and whether its settings for this are in range. */
  def inPieces(operation: Operation): Bool =
    if (streaming) operation.setting(moreInput.name) === 1.U else false.B
  def supportsInput(operation: Operation): Bool =
    if (streaming) operation.setting(moreInput.name) <= 1.U else true.B
}
