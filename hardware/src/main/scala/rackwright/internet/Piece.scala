package rackwright.internet

import chisel3._

import rackwright.network.Flit

/** A flit of a frame, or of the rest of one, with the information so far.
  *
  * @param gen
  *   what is known.
  */
class Piece[T <: Data](gen: T) extends Bundle {
  val flit = new Flit()
  val about = gen.cloneType
}
