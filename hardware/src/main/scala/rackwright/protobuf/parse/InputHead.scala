package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.stream.ByteStream

/** The bytes at the head of the input, as registers hold them. */
class InputHead(portBytes: Int) extends Bundle {
  val data = UInt((8 * portBytes).W)

  /** Bytes of them that are there. */
  val available = UInt(log2Ceil(portBytes + 1).W)

  /** What is behind them can't be read. */
  val fault = Bool()

  /** They are what is left of the input now; bytes may be consumed. */
  val fresh = Bool()
}

/** Puts a register between the alignment of the input and those who look at it.
  *
  * What is consumed leaves the input at once; the cycle after it is needed to align the bytes behind.
  */
class DeserializerHead(portBytes: Int) extends Module {
  val stream = IO(Flipped(new ByteStream(portBytes)))
  val head = IO(Output(new InputHead(portBytes)))

  /** Bytes that leave; only while the head is fresh. */
  val consume = IO(Input(UInt(log2Ceil(portBytes + 1).W)))

  stream.consume := consume
  head.data := RegNext(stream.data.asUInt)
  head.available := RegNext(stream.available)
  head.fault := RegNext(stream.fault, false.B)
  head.fresh := RegNext(consume === 0.U, false.B)
}
