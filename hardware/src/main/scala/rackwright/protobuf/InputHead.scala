package rackwright.protobuf

import chisel3._
import chisel3.util._

import rackwright.memory.ByteStream

/** What of a message, or of a run of packed elements in it, is at the head of the input. */
class InputHead(portBytes: Int) extends Bundle {
  val data = UInt((8 * portBytes).W)

  /** Bytes of it that are there. */
  val available = UInt(log2Ceil(portBytes + 1).W)

  /** All that is left of it is there. */
  val isWhole = Bool()

  /** No more of it will come: memory refused the rest. */
  val unreadable = Bool()
}

/** Looks at the head of the input. */
object InputHead {

  /** The head of a stream that has `left` bytes of the message. */
  def of(stream: ByteStream, left: UInt, portBytes: Int): InputHead = {
    val head = Wire(new InputHead(portBytes))
    head.data := stream.data.asUInt
    head.isWhole := left <= stream.available
    head.available := Mux(head.isWhole, left(stream.available.getWidth - 1, 0), stream.available)
    head.unreadable := stream.fault && !head.isWhole
    head
  }
}
