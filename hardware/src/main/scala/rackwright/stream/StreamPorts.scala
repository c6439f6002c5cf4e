package rackwright.stream

import chisel3._
import chisel3.util._

import rackwright.port.Status

/** A range of memory to stream: `length` bytes from `address`, any alignment. */
class StreamRange extends Bundle {
  val address = UInt(64.W)
  val length = UInt(64.W)
}

/** Input bytes for a consumer that selects how many to take in each cycle.
  *
  * Shapes: `data(0)` is the next byte of the stream; the first `available` bytes are valid. In every cycle the consumer
  * sets `consume` to a number from 0 to `available`. `last` means that the valid bytes are the last of the range, so
  * that `available === 0.U && last` is the end. `fault` means that the bytes after the valid ones could not be read.
  *
  * @param bytes
  *   the most bytes offered in a cycle.
  */
class ByteStream(val bytes: Int) extends Bundle {
  val data = Output(Vec(bytes, UInt(8.W)))
  val available = Output(UInt(log2Ceil(bytes + 1).W))
  val last = Output(Bool())
  val fault = Output(Bool())
  val consume = Input(UInt(log2Ceil(bytes + 1).W))
}

/** Up to `bytes` bytes handed to the writer in one cycle; the first `count` of `data` are valid. */
class ByteChunk(val bytes: Int) extends Bundle {
  val data = Vec(bytes, UInt(8.W))
  val count = UInt(log2Ceil(bytes + 1).W)
}

/** The result of a streaming writer, after the responses to all its writes. */
class WriterResult extends Bundle {
  val status = UInt(Status.width.W)
  val written = UInt(64.W)
}
