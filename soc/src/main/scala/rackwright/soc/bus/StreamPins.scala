package rackwright.soc

import chisel3._
import chisel3.util._

/** What a stream carries in a cycle: bytes of a frame from the first on, those that count by `keep`. */
class StreamBeat(val bytes: Int) extends Bundle {
  val data = UInt((8 * bytes).W)
  val keep = UInt(bytes.W)
  val last = Bool()
}

/** Streams of frames of a unit, which leave the chip through pins of its own. */
object StreamPins {

  /** The port of a stream, seen from the unit. */
  def port(spec: StreamSpec): DecoupledIO[StreamBeat] = {
    val beats = Decoupled(new StreamBeat(spec.bytes))
    if (spec.out) beats else Flipped(beats)
  }

  /** Connects it with the pins of the unit, which `pin` gives by their signals. */
  def connect(stream: DecoupledIO[StreamBeat], spec: StreamSpec, pin: String => UInt): Unit =
    if (spec.out) {
      stream.valid := pin("valid")
      stream.bits.data := pin("bits_data")
      stream.bits.keep := pin("bits_keep")
      stream.bits.last := pin("bits_last")
      pin("ready") := stream.ready
    } else {
      pin("valid") := stream.valid
      pin("bits_data") := stream.bits.data
      pin("bits_keep") := stream.bits.keep
      pin("bits_last") := stream.bits.last
      stream.ready := pin("ready")
    }
}
