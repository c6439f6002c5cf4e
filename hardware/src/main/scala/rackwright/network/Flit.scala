package rackwright.network

import chisel3._
import chisel3.util._

import rackwright.port.StreamFlit

/** A piece of a frame: its first `count` bytes are valid, byte 0 in the low bits.
  *
  * @param bytes
  *   bytes of a full one.
  */
class Flit(val bytes: Int = Frame.flitBytes) extends Bundle {
  val data = UInt((8 * bytes).W)
  val count = UInt(Flit.countBits(bytes).W)
  val last = Bool()
}

/** Conversion between flits and bytes on the wire. */
object Flit {

  /** Width of the number of bytes in a flit of `bytes` bytes. */
  def countBits(bytes: Int): Int = log2Ceil(bytes + 1)

  /** To the wire. */
  def onWire(flit: Flit): StreamFlit = {
    val wire = Wire(new StreamFlit(flit.bytes))
    wire.data := flit.data
    wire.keep := firstBytes(flit.count, flit.bytes)
    wire.last := flit.last
    wire
  }

  /** From the wire: the bytes up to the first that is not valid. */
  def fromWire(wire: StreamFlit): Flit = {
    val flit = Wire(new Flit(wire.bytes))
    flit.data := wire.data
    flit.count := PriorityEncoder(Cat(true.B, ~wire.keep))
    flit.last := wire.last
    flit
  }

  /** A bit for each of the first `count` bytes of a flit of `bytes` bytes. */
  def firstBytes(count: UInt, bytes: Int = Frame.flitBytes): UInt = ((1.U << count) - 1.U)(bytes - 1, 0)
}
