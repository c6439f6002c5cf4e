package rackwright.noc

import chisel3._
import chisel3.util._

import rackwright.stream.HeadQueue

/** One input of a router: a queue for each side through which packets that arrive here may leave, so that a packet
  * waits only for those that leave through the same side.
  *
  * @param outputs
  *   these sides.
  * @param params
  *   the mesh.
  */
class RouterInput(outputs: Seq[Side], params: NocParams) extends Module {
  val link = IO(Flipped(new Link(params.flitBytes)))

  /** The position of the router. */
  val here = IO(Input(new Place))

  /** The head of the queue of each side. */
  val out = IO(Vec(outputs.size, Decoupled(new Waiting(params.flitBytes))))

  private val credits = outputs.zip(out).map { case (side, head) =>
    val queue = Module(new HeadQueue(new Waiting(params.flitBytes), params.depth, gapless = true))
    queue.in.valid := link.valid && link.queue(side.index)
    queue.in.bits.flit := link.flit
    // The side by which the next router sends it is found here, before it waits.
    queue.in.bits.queue := (if (side == Side.Own) (1 << Side.Own.index).U
                            else params.order.leave(Place.beside(here, side), link.flit.destination))
    head <> queue.out
    assert(!queue.in.valid || queue.in.ready, "a flit arrives that has no place")
    side -> queue.out.fire
  }.toMap
  link.credits := VecInit(Side.all.map(side => credits.getOrElse(side, false.B))).asUInt

  assert(
    !link.valid || outputs.map(side => link.queue(side.index)).reduce(_ || _),
    "a flit arrives that may not leave by its side"
  )
}
