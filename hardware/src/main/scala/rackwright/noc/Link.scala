package rackwright.noc

import chisel3._
import chisel3.util._

/** Coordinates of a tile; the top left one is 0, 0. */
class Place extends Bundle {
  val x = UInt(NocParams.placeBits.W)
  val y = UInt(NocParams.placeBits.W)
}

/** Makes places. */
object Place {

  /** The place of a neighbour on that side, which there is. */
  def beside(here: Place, side: Side): Place = {
    val next = Wire(new Place)
    next.x := here.x + step(side.dx)
    next.y := here.y + step(side.dy)
    next
  }

  private def step(by: Int): UInt = (by & ((1 << NocParams.placeBits) - 1)).U(NocParams.placeBits.W)
}

/** A flit: the data that a link transfers in a cycle. Each has the destination of its packet beside its bytes, so that
  * a router needs no memory of the first one.
  */
class MeshFlit(val bytes: Int) extends Bundle {
  val data = UInt((8 * bytes).W)
  val last = Bool()
  val destination = new Place
}

/** A link, as seen by its sender. A router has a queue for each pair of sides; the sender chooses the queue, and has a
  * credit for each place in it.
  *
  * @param bytes
  *   bytes of a flit.
  */
class Link(val bytes: Int) extends Bundle {
  val valid = Output(Bool())
  val flit = Output(new MeshFlit(bytes))

  /** The side by which the flit will leave the receiver, one-hot: its queue. */
  val queue = Output(UInt(Side.bits.W))

  /** A bit for each queue in which a place has become free. */
  val credits = Input(UInt(Side.bits.W))
}

/** Registers on a link. */
object Link {

  /** The receiver's end of `link` with `stages` registers in between; credits return through as many. */
  def behind(link: Link, stages: Int): Link = {
    val far = Wire(Flipped(new Link(link.bytes)))
    far.valid := ShiftRegister(link.valid, stages, false.B, true.B)
    far.flit := ShiftRegister(link.flit, stages)
    far.queue := ShiftRegister(link.queue, stages)
    link.credits := ShiftRegister(far.credits, stages, 0.U, true.B)
    far
  }
}
