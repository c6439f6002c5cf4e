package rackwright.noc

import chisel3._

/** A router of a mesh. A flit that has arrived is sent in the next cycle, and is at the next router in the one after.
  *
  * @param sides
  *   the sides with a neighbour, and its own tile.
  * @param params
  *   the mesh.
  */
class Router(sides: Seq[Side], params: NocParams) extends Module {
  override def desiredName: String = s"Router${sides.map(_.letter).mkString}"

  /** Its position: it is not a parameter, so that routers with the same sides are one module. */
  val here = IO(Input(new Place))

  /** From and to the neighbours and the tile, in the order of `sides`. */
  val in = IO(Vec(sides.size, Flipped(new Link(params.flitBytes))))
  val out = IO(Vec(sides.size, new Link(params.flitBytes)))

  /** No flits are in this router, or in flight from it. */
  val idle = IO(Output(Bool()))

  /** Flits that wait at the head of a queue in this cycle and are not sent. */
  val waiting = IO(Output(Vec(sides.size, Bool())))

  private val inputs = sides.zip(in).map { case (side, link) =>
    val outputs = params.order.turns(side).filter(sides.contains)
    val input = Module(new RouterInput(outputs, params))
    input.here := here
    input.link <> link
    outputs.zip(input.out)
  }

  private val arbiters = sides.zip(out).map { case (side, link) =>
    val heads = inputs.flatten.collect { case (`side`, head) => head }
    val queues = if (side == Side.Own) Seq(Side.Own) else params.order.turns(side.opposite)
    val arbiter = Module(new OutputArbiter(heads.size, queues, params))
    arbiter.in.zip(heads).foreach { case (input, head) => input <> head }
    link <> arbiter.out
    arbiter
  }
  waiting := VecInit(arbiters.map(arbiter => VecInit(arbiter.in.map(head => head.valid && !head.ready)).asUInt.orR))
  idle := arbiters.map(_.idle).reduce(_ && _)
}
