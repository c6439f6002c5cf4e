package rackwright.ordered

import chisel3._
import chisel3.util._

import rackwright.memory.{Sram, SramQueue}
import rackwright.port.MemoryPort

/** A walk on its way through the stages. */
class Pass(params: Params) extends Bundle {
  val arrival = new Arrival(params)

  /** Its node has come from memory, or memory has refused it. */
  val arrived, fault = Bool()
}

/** The first cycles of the stages. */
private object Stage {
  val (turn, state, blocks, cache, found, node, decision, end) = (0, 1, 2, 5, 8, 9, 13, 14)
}

/** Answers many queries concurrently. Each is in one place: it waits for its turn or for a node, or it passes through
  * 15 stages, one of which begins in each cycle: its state is read (1), and the blocks that it is in are computed (2 to
  * 4); the cache is searched (5 to 7); the node is read (8, 9), its keys are compared and added up (10 to 12); what
  * follows is decided (13) and written (14).
  */
class Walks(params: Params) extends Module {
  private val slots = params.walks
  val tree = IO(Input(new Tree))

  /** Empties the cache; until `ready`, no query may be there. */
  val clear = IO(Input(Bool()))
  val ready = IO(Output(Bool()))
  val query = IO(Flipped(Decoupled(new Query)))

  /** In the order of the queries. */
  val ended = IO(Decoupled(new Ended))
  val memory = IO(new MemoryPort(params.nodes))
  val empty = IO(Output(Bool()))
  val hit = IO(Output(Bool()))
  val miss = IO(Output(Bool()))

  private val walks = Sram(slots, new Walk)
  private val again = Module(new SramQueue(UInt(params.slotBits.W), slots, direct = true))
  private val reader = Module(new NodeReader(params))
  private val cache = Module(new NodeCache(params))
  private val search = Module(new NodeSearch)
  private val answers = Module(new Answers(params))
  reader.nodes := tree.nodes
  memory <> reader.memory
  cache.clear := clear
  ready := cache.ready
  again.clear := false.B

  // Whose turn it is, and its state.
  private val passes = Seq.iterate(Wire(new Pass(params)), Stage.end + 1)(RegNext(_))
  private val isPass = Seq.iterate(reader.arrived.valid || again.deq.valid, Stage.end + 1)(RegNext(_, false.B))
  private val turn = passes(Stage.turn)
  again.deq.ready := !reader.arrived.valid
  turn.arrived := reader.arrived.valid
  turn.fault := reader.arrived.valid && reader.fault
  turn.arrival := reader.arrived.bits
  when(!reader.arrived.valid) { turn.arrival.slot := again.deq.bits }
  private val state = walks.read(passes(Stage.state).arrival.slot, isPass(Stage.state))
  private val states = Seq.iterate(state, Stage.node - Stage.state)(RegNext(_))
  private def walk(stage: Int): Walk = states(stage - Stage.state - 1)

  // The blocks in which the node may begin.
  private val blocks = Module(new Blocks(params))
  blocks.tree := tree
  blocks.walk := walk(Stage.blocks)
  blocks.arrived := passes(Stage.blocks).arrived
  cache.look := blocks.look
  cache.look.key := walk(Stage.cache).key
  cache.look.number := walk(Stage.cache).number

  // The cache has it, or takes it; of walks that share a node, that of the owner.
  private val (found, isFound) = (passes(Stage.found), isPass(Stage.found))
  private val place = walk(Stage.found)
  private val isCached =
    if (params.byRange) place.known && Seq(tree.near, tree.wide).map(_.level === place.level).reduce(_ || _)
    else true.B
  private val wide = Seq.iterate(blocks.look.wide, Stage.found - Stage.cache + 1)(RegNext(_)).last
  reader.owner := found.arrival.owner
  cache.used := isFound
  private val isOwner = found.arrival.slot === found.arrival.owner
  cache.store.valid := isFound && found.arrived && !found.fault && isOwner && !cache.hit && isCached
  cache.store.bits.low := place.low
  cache.store.bits.end := place.end
  cache.store.bits.wide := wide
  cache.stored := reader.node
  hit := isFound && !found.arrived && cache.hit
  miss := isFound && !found.arrived && !cache.hit

  // The node, and what it says.
  private val isHit = RegNext(cache.hit)
  private val arrived = passes(Stage.node).arrived
  private val range = cache.range
  private val visit = Wire(new Visit)
  visit.walk := walk(Stage.node)
  if (params.byRange) when(!arrived && isHit) {
    visit.walk.low := range.low
    visit.walk.end := range.end
    visit.walk.known := true.B
    visit.walk.level := Mux(range.wide, tree.wide.level, tree.near.level)
  }
  visit.node := Mux(arrived, reader.node, cache.node)
  search.visit := RegNext(visit)
  private def decided(what: Bool): Bool = Seq.iterate(what, Stage.decision - Stage.node + 1)(RegNext(_)).last
  private val decision = Module(new Decision(params))
  decision.tree := tree
  decision.finding := search.finding
  decision.hasNode := decided(arrived || isHit)
  decision.fault := passes(Stage.decision).fault

  // What follows.
  private val (outcome, slot) = (decision.outcome, passes(Stage.end).arrival.slot)
  private val now = isPass(Stage.end)
  reader.request.valid := now && outcome.fetches
  reader.request.bits.slot := slot
  reader.request.bits.number := outcome.walk.number
  answers.ended.valid := now && outcome.ends
  answers.ended.bits := outcome.ended
  answers.slot := slot

  // A new walk begins when none is written.
  private val queries = Module(new Queue(new Query, 2))
  private val keeps = now && !outcome.ends
  private val start = WireDefault(0.U.asTypeOf(new Walk))
  start.fromRoot(tree)
  start.key := queries.io.deq.bits.low
  start.high := queries.io.deq.bits.high
  start.step := Step.near
  queries.io.enq <> query
  queries.io.deq.ready := answers.hasRoom && !keeps
  private val starts = queries.io.deq.fire
  answers.starts := starts
  when(keeps || starts) { walks.write(Mux(keeps, slot, answers.free), Mux(keeps, outcome.walk, start)) }
  again.enq.valid := Mux(keeps, outcome.looks, starts)
  again.enq.bits := Mux(keeps, slot, answers.free)
  assert(!again.enq.valid || again.enq.ready, "a walk is in two places")
  ended <> answers.output
  empty := answers.empty && !queries.io.deq.valid
}
