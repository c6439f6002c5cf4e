package rackwright.mover

import chisel3._

import rackwright.port.{MemoryPortParams, Status}
import chisel3.util.Valid

/** A stream of the unit.
  *
  * @param name
  *   the name of its port.
  * @param outward
  *   whether the unit sends it.
  * @param bytes
  *   bytes of a transfer, a power of two up to 32.
  * @param keep
  *   whether it marks the bytes that count.
  * @param last
  *   whether it marks the end of a frame.
  */
case class StreamShape(name: String, outward: Boolean, bytes: Int, keep: Boolean, last: Boolean) {

  /** Its port to memory: enough beats are outstanding for one transfer in each cycle near a core. */
  val port: MemoryPortParams = MemoryPortParams(bytes = bytes.max(16), tagBits = if (bytes <= 8) 5 else 6)
}

/** The control of one stream, seen from its registers. */
class StreamControl extends Bundle {

  /** Starts a frame; only while none is being moved. */
  val start = Output(Valid(new FrameRange))

  /** Ends the frame with what has been moved. */
  val stop = Output(Bool())

  /** A pulse: the frame has ended. */
  val done = Input(Bool())

  /** How it ended; valid with `done`. */
  val status = Input(UInt(Status.width.W))

  /** Bytes moved of the present frame, or of the last one. */
  val moved = Input(UInt(32.W))
}
