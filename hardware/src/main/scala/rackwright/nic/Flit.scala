package rackwright.nic

import chisel3._
import chisel3.util._

import rackwright.network.StreamFlit

/** Up to eight bytes of a frame; the first `count` of them are valid, byte 0 in the low bits. */
class Flit extends Bundle {
  val data = UInt((8 * Frame.flitBytes).W)
  val count = UInt(Frame.countBits.W)
  val last = Bool()
}

/** Between flits and what is on the wire. */
object Flit {

  /** To the wire. */
  def onWire(flit: Flit): StreamFlit = {
    val wire = Wire(new StreamFlit(Frame.flitBytes))
    wire.data := flit.data
    wire.keep := firstBytes(flit.count)
    wire.last := flit.last
    wire
  }

  /** From the wire: the bytes up to the first that is not valid. */
  def fromWire(wire: StreamFlit): Flit = {
    val flit = Wire(new Flit)
    flit.data := wire.data
    flit.count := PriorityEncoder(Cat(true.B, ~wire.keep))
    flit.last := wire.last
    flit
  }

  /** A bit for each of the first `count` bytes. */
  def firstBytes(count: UInt): UInt = ((1.U << count) - 1.U)(Frame.flitBytes - 1, 0)
}
