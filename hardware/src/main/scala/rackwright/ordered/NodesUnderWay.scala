package rackwright.ordered

import chisel3._
import chisel3.util._

import rackwright.memory.{RegisterFile, Sram}

/** The node that a walk needs. */
class NodeRequest(params: Params) extends Bundle {
  val slot = UInt(params.slotBits.W)
  val number = UInt(Node.numberBits.W)
}

/** A walk whose node is there. */
class Arrival(params: Params) extends Bundle {
  val slot = UInt(params.slotBits.W)

  /** The walk that the node was read for. It is the last one to arrive with it. */
  val owner = UInt(params.slotBits.W)
}

/** Reads a node once for all walks that ask for it while it is under way: the first owns it, the others are in a chain
  * behind it. A table has the last one of the chain, in a place by the number of the node; a node that finds its place
  * taken takes it over, and the chain of the other one ends there.
  */
class NodesUnderWay(params: Params) extends Module {
  private val slots = params.walks
  val request = IO(Flipped(Decoupled(new NodeRequest(params))))
  val fetch = IO(Decoupled(new NodeRequest(params)))

  /** The owner of the next arrival. */
  val next = IO(Output(UInt(params.slotBits.W)))

  /** An owner whose node has been read. */
  val whole = IO(Flipped(Decoupled(UInt(params.slotBits.W))))
  val arrived = IO(Valid(new Arrival(params)))

  private class Row extends Bundle {
    val number = UInt((Node.numberBits - params.slotBits).W)
    val last = UInt(params.slotBits.W)
  }
  private val table = Sram(slots, new Row)
  private val isOpen = RegInit(VecInit.fill(slots)(false.B))
  private val places = Sram(slots, UInt(params.slotBits.W))
  private val links = RegisterFile(slots, UInt(params.slotBits.W))
  private val isLinked = RegInit(VecInit.fill(slots)(false.B))
  private val fetches = Module(new Queue(new NodeRequest(params), 8))
  fetch <> fetches.io.deq
  private def place(of: NodeRequest): UInt = of.number(params.slotBits - 1, 0)

  // Two cycles after its turn, a walk joins a chain or begins one. The row is that of the last walk with this place, which
  // may not have been written yet.
  private val steps = Seq.iterate(request.bits, 3)(RegNext(_))
  private val isStep = Seq.iterate(request.fire, 3)(RegNext(_, false.B))
  request.ready := fetches.io.count < 4.U
  private def kept(walk: NodeRequest): Row = {
    val row = Wire(new Row)
    row.number := walk.number >> params.slotBits
    row.last := walk.slot
    row
  }
  private val isRecent = steps.zip(isStep).tail.map { case (step, is) => is && place(step) === place(request.bits) }
  private val recent = RegNext(Mux(isRecent.head, kept(steps(1)), kept(steps(2))))
  private val isForwarded = RegNext(isRecent.reduce(_ || _))
  private val row = RegNext(Mux(isForwarded, recent, table.read(place(request.bits), request.fire)))
  private val isSame = row.number === steps(2).number >> params.slotBits && isOpen(place(steps(2)))
  private val (joins, begins) = (isStep(2) && isSame, isStep(2) && !isSame)
  private val (walk, at) = (steps(2).slot, place(steps(2)))
  when(isStep(2)) {
    table.write(at, kept(steps(2)))
    isLinked(walk) := false.B
  }
  when(joins) {
    links.write(row.last, walk)
    isLinked(row.last) := true.B
  }
  when(begins) {
    places.write(walk, at)
    isOpen(at) := true.B
  }
  fetches.io.enq.valid := begins
  fetches.io.enq.bits := steps(2)
  assert(!begins || fetches.io.enq.ready, "a node is asked for that nobody reads")

  // A chain is closed a cycle before it is followed, so that nobody joins it any more.
  private val closed = Module(new Queue(UInt(params.slotBits.W), 8))
  whole.ready := closed.io.count < 4.U
  private val closes = Seq.iterate(whole.fire, 3)(RegNext(_, false.B))
  private val ends = RegNext(places.read(whole.bits, whole.fire))
  when(closes(2)) { isOpen(ends) := false.B }
  closed.io.enq.valid := closes(1)
  closed.io.enq.bits := RegNext(whole.bits)

  // One walk in each cycle, the owner last: it may ask for another node, which takes the place of this one.
  private val isFollowed = RegInit(false.B)
  private val owner, walked = Reg(UInt(params.slotBits.W))
  private val isMore = isLinked(walked)
  private val follower = links.read(walked)
  private val isOwner = isFollowed && !isMore
  arrived.valid := RegNext(isFollowed, false.B)
  arrived.bits.slot := RegNext(Mux(isMore, follower, owner))
  arrived.bits.owner := RegNext(owner)
  next := owner
  walked := follower
  closed.io.deq.ready := !isFollowed || isOwner
  when(closed.io.deq.ready) {
    isFollowed := closed.io.deq.valid
    owner := closed.io.deq.bits
    walked := closed.io.deq.bits
  }

  // Each walk that waits arrives once.
  private val waits = RegInit(VecInit.fill(slots)(false.B))
  when(request.fire) {
    assert(!waits(request.bits.slot), "a walk asks twice")
    waits(request.bits.slot) := true.B
  }
  when(arrived.valid) {
    assert(waits(arrived.bits.slot), "a walk arrives that has not asked")
    waits(arrived.bits.slot) := false.B
  }
}
