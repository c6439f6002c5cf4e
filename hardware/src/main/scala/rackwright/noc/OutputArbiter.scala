package rackwright.noc

import chisel3._
import chisel3.util._

/** The flit at the head of a queue of a router. */
class Waiting(val bytes: Int) extends Bundle {
  val flit = new MeshFlit(bytes)

  /** The queue at the next router, one-hot. */
  val queue = UInt(Side.bits.W)
}

/** One output of a router: in each cycle it sends the flit of one of the queues that wait for it.
  *
  * A packet that has started to enter a queue of the next router keeps that queue until its last flit: flits of two
  * packets are not mixed there (wormhole). Other packets may pass it, to other queues.
  *
  * @param inputs
  *   number of the router's queues for this output.
  * @param queues
  *   the sides whose queues the next router has.
  * @param params
  *   the mesh.
  */
class OutputArbiter(inputs: Int, queues: Seq[Side], params: NocParams) extends Module {
  val in = IO(Vec(inputs, Flipped(Decoupled(new Waiting(params.flitBytes)))))
  val out = IO(new Link(params.flitBytes))

  /** No flits of this output are in flight. */
  val idle = IO(Output(Bool()))

  private val credits = Module(new Credits(queues, params.depth))
  private val owned = RegInit(0.U(Side.bits.W))
  private val owners = Reg(Vec(Side.bits, UInt(inputs.W)))

  private val eligible = VecInit(in.zipWithIndex.map { case (waiting, number) =>
    val usable = VecInit(Side.all.map { side =>
      credits.available(side.index) && (!owned(side.index) || owners(side.index)(number))
    }).asUInt
    waiting.valid && (waiting.bits.queue & usable).orR
  }).asUInt

  // The least recently served one has priority, even if it has waited for a credit meanwhile: round-robin would skip
  // some of these each time.
  private val isBefore = Seq.tabulate(inputs, inputs)((one, other) => RegInit((one < other).B))
  private val chosen = VecInit(Seq.tabulate(inputs) { one =>
    eligible(one) && !(0 until inputs).filter(_ != one).map(other => eligible(other) && isBefore(other)(one))
      .foldLeft(false.B)(_ || _)
  }).asUInt
  private val sends = eligible.orR
  private val sent = Mux1H(chosen, in.map(_.bits))
  in.zip(chosen.asBools).foreach { case (waiting, mine) => waiting.ready := mine }

  when(sends) {
    for (one <- 0 until inputs; other <- 0 until inputs if one != other)
      isBefore(one)(other) := !chosen(one) && (chosen(other) || isBefore(one)(other))
    owned := Mux(sent.flit.last, owned & ~sent.queue, owned | sent.queue)
    Side.all.foreach(side => when(sent.queue(side.index)) { owners(side.index) := chosen })
  }
  credits.spend := Mux(sends, sent.queue, 0.U)
  credits.returned := RegNext(out.credits, 0.U)

  out.valid := RegNext(sends, false.B)
  out.flit := RegEnable(sent.flit, sends)
  out.queue := RegEnable(sent.queue, sends)
  idle := credits.complete && !out.valid && out.credits === 0.U

  in.foreach(waiting => assert(!waiting.valid || PopCount(waiting.bits.queue) === 1.U, "a flit has no next queue"))
}
