package rackwright.ordered

import chisel3._
import chisel3.util._

import rackwright.memory.{Sram, SramQueue}
import rackwright.port.MemoryPort

/** Reads nodes in two beats each, and has them until their owners ask for others. */
class NodeReader(params: Params) extends Module {
  val nodes = IO(Input(UInt(64.W)))
  val request = IO(Flipped(Valid(new NodeRequest(params))))
  val arrived = IO(Valid(new Arrival(params)))

  /** Memory has refused the node that arrives. */
  val fault = IO(Output(Bool()))

  /** The node of an owner, one cycle later. */
  val owner = IO(Input(UInt(params.slotBits.W)))
  val node = IO(Output(new Node))
  val memory = IO(new MemoryPort(params.nodes))

  private val asked = Module(new SramQueue(new NodeRequest(params), params.walks, direct = true))
  private val underWay = Module(new NodesUnderWay(params))
  asked.clear := false.B
  asked.enq.valid := request.valid
  asked.enq.bits := request.bits
  assert(!request.valid || asked.enq.ready, "a walk asks twice")
  underWay.request <> asked.deq
  arrived := underWay.arrived

  // The address and both requests have a cycle each.
  private val placed = Module(new Queue(UInt(params.slotBits.W), 1, pipe = true))
  private val address = Reg(UInt(64.W))
  private val second = RegInit(false.B)
  private val fetch = underWay.fetch
  placed.io.enq.valid := fetch.valid
  placed.io.enq.bits := fetch.bits.slot
  fetch.ready := placed.io.enq.ready
  when(placed.io.enq.fire) { address := nodes + Cat(fetch.bits.number, 0.U(log2Ceil(Node.bytes).W)) }
  memory.request.valid := placed.io.deq.valid
  memory.request.bits.read(Cat(address(63, 6), second, 0.U(5.W)), Cat(placed.io.deq.bits, second))
  placed.io.deq.ready := memory.request.ready && second
  when(memory.request.fire) { second := !second }

  // Beats return in any order.
  memory.response.ready := true.B
  private val response = RegNext(memory.response.bits)
  private val isThere = RegNext(memory.response.valid, false.B)
  private val (beatOwner, half) = (response.tag >> 1, response.tag(0))
  private val halves =
    Seq.tabulate(2)(i => Sram(params.walks, UInt((8 * Params.beatBytes).W))(sourcecode.Name(s"half_$i")))
  private val one, faulted = RegInit(VecInit.fill(params.walks)(false.B))
  private val ready = Module(new Queue(UInt(params.slotBits.W), params.walks))
  for (i <- 0 until 2) when(isThere && half === i.U) { halves(i).write(beatOwner, response.data) }
  when(isThere) {
    one(beatOwner) := !one(beatOwner)
    faulted(beatOwner) := response.fault || (one(beatOwner) && faulted(beatOwner))
  }
  ready.io.enq.valid := isThere && one(beatOwner)
  ready.io.enq.bits := beatOwner
  underWay.whole <> ready.io.deq

  node.bits := Cat(halves(1).read(owner, true.B), halves(0).read(owner, true.B))
  fault := RegNext(faulted(underWay.next))
}
