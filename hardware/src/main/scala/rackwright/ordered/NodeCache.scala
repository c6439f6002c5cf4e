package rackwright.ordered

import chisel3._
import chisel3.util._

import rackwright.memory.Sram

/** What a node is known by: its range and which of both levels it has, or its number. */
class NodeTag(params: Params) extends Bundle {
  val valid = Bool()
  val range = Option.when(params.byRange)(new NodeRange)
  val number = Option.when(!params.byRange)(UInt((Node.numberBits - params.setBits).W))
}

/** Keys from `low` to below `end`. */
class NodeRange extends Bundle {
  val low, end = UInt(64.W)
  val wide = Bool()
}

/** A search: both sets that the node may be in, one of each bank. */
class Look(params: Params) extends Bundle {
  val sets = Vec(2, UInt((params.setBits - 1).W))

  /** By address, the node is in this bank only. By range, a node that is stored belongs to this bank. */
  val bank = UInt(1.W)
  val key = UInt(64.W)
  val number = UInt(Node.numberBits.W)
  val wide = Bool()
}

/** A cache of nodes. A node covers keys of at most two consecutive blocks if it has no more keys than a block, and is
  * in the set of the block in which it begins: both sets are searched at once, since consecutive sets are in two banks.
  *
  * A search takes four cycles: tags are read (0, 1) and compared (2), and one of them is chosen, whose node is read (3,
  * 4). A tag is written four cycles after the search that has not found it, and its node as many cycles after the tag
  * as nodes are read after tags: whoever finds a tag reads the node that belongs to it.
  */
class NodeCache(params: Params) extends Module {
  private val (ways, bankSets) = (params.ways, params.sets / 2)
  val look = IO(Input(new Look(params)))

  /** Three cycles later; also whether and what to store. */
  val hit = IO(Output(Bool()))
  val used = IO(Input(Bool()))
  val store = IO(Flipped(Valid(new NodeRange)))

  /** Four cycles later, `stored` being the node to store. */
  val range = IO(Output(new NodeRange))
  val node = IO(Output(new Node))
  val stored = IO(Input(new Node))

  /** Empties the cache while no search is under way; until `ready`, none may begin. */
  val clear = IO(Input(Bool()))
  val ready = IO(Output(Bool()))

  private val tags =
    Seq.tabulate(2, ways)((bank, way) => Sram(bankSets, new NodeTag(params))(sourcecode.Name(s"tags_${bank}_$way")))
  private val recents =
    Seq.tabulate(2)(bank => Sram(bankSets, UInt(ways.W))(sourcecode.Name(s"recents_$bank")))
  private val nodes = Sram(ways * params.sets, new Node)
  private val looks = Seq.iterate(look, 4)(RegNext(_))
  private val turn = RegInit(0.U(log2Ceil(ways).W))
  turn := Mux(turn === (ways - 1).U, 0.U, turn + 1.U)

  // 0 and 1: tags are read. Those of a set that is written in that cycle are not defined.
  private val writes = Seq.fill(2)(Wire(new TagWrite(params)))
  private val notes = Seq.fill(2)(Wire(new RecentWrite(params)))
  private val lost = Seq.tabulate(2) { bank =>
    RegNext(RegNext(writes(bank).ways.orR && writes(bank).set === look.sets(bank)))
  }
  private val forgotten = Seq.tabulate(2) { bank =>
    RegNext(RegNext(notes(bank).valid && notes(bank).set === look.sets(bank)))
  }
  private val rows = Seq.tabulate(2)(bank => tags(bank).map(tag => RegNext(tag.read(look.sets(bank), true.B))))
  private val recent = Seq.tabulate(2) { bank =>
    RegNext(recents(bank).read(look.sets(bank), true.B)).asTypeOf(UInt(ways.W)) & Fill(ways, !forgotten(bank))
  }
  private val valid = Seq.tabulate(2)(bank => VecInit(rows(bank).map(_.valid)).asUInt | Fill(ways, lost(bank)))

  // 2: tags are compared.
  private val compared = for (bank <- 0 until 2; way <- 0 until ways) yield {
    val (tag, sought) = (rows(bank)(way), looks(2))
    val starts = tag.range.map(range => RegNext(range.low <= sought.key))
    val goesOn = tag.range.map(range => RegNext(sought.key < range.end))
    val isLevel = tag.range.map(range => RegNext(range.wide === sought.wide))
    val isNumber = tag.number.map(_ === sought.number >> params.setBits && sought.bank === bank.U).map(RegNext(_))
    val isThere = RegNext(tag.valid && !lost(bank))
    (Seq(isThere) ++ starts ++ goesOn ++ isLevel ++ isNumber).reduce(_ && _)
  }
  private val victims = Seq.tabulate(2) { bank =>
    RegNext(victim(valid(bank), recent(bank))).asTypeOf(UInt(log2Ceil(ways).W))
  }
  private val wasRecent = recent.map(RegNext(_))
  private val tired = Seq.tabulate(2)(bank => RegNext((valid(bank) & recent(bank)).andR))
  private def victim(valid: UInt, recent: UInt): UInt =
    Mux(!valid.andR, PriorityEncoder(~valid), Mux(!recent.andR, PriorityEncoder(~recent), turn))

  // 3: of several nodes with the key, any is right.
  private val found = PriorityEncoderOH(compared)
  private val foundBank = found.drop(ways).reduce(_ || _)
  private val foundWay = VecInit(found.take(ways).zip(found.drop(ways)).map { case (one, other) => one || other })
  hit := compared.reduce(_ || _)

  // 3 and 4: the node is read.
  private val now = looks(3)
  private val ranges = rows.flatMap(_.map(_.range.getOrElse(0.U.asTypeOf(new NodeRange)))).map(each =>
    RegNext(RegNext(each))
  )
  range := Mux1H(found.map(RegNext(_)), ranges)
  node := nodes.read(Cat(OHToUInt(foundWay), foundBank, now.sets(foundBank)), true.B)

  // 4: what was found is recent; what was not found has its tag.
  private val sweep = RegInit(0.U(log2Ceil(bankSets).W))
  private val sweeps = RegInit(true.B)
  ready := !sweeps
  when(sweeps) {
    sweep := sweep + 1.U
    sweeps := !sweep.andR
  }
  when(clear) { sweeps := true.B }
  private val tag = Wire(new NodeTag(params))
  tag.valid := true.B
  tag.range.foreach(_ := store.bits)
  tag.number.foreach(_ := now.number >> params.setBits)
  private val written = RegNext(Mux(sweeps, 0.U.asTypeOf(tag), tag))
  for (bank <- 0 until 2) {
    val (stores, uses) = (store.valid && now.bank === bank.U, used && hit && foundBank === bank.U)
    val way = UIntToOH(victims(bank), ways)
    writes(bank).ways := RegNext(Mux(sweeps, Fill(ways, 1.U(1.W)), Mux(stores, way, 0.U)), 0.U(ways.W))
    writes(bank).set := RegNext(Mux(sweeps, sweep, now.sets(bank)))
    for (each <- 0 until ways) when(writes(bank).ways(each)) { tags(bank)(each).write(writes(bank).set, written) }
    notes(bank).valid := RegNext(sweeps || stores || uses, false.B)
    notes(bank).set := writes(bank).set
    val noted = Mux(uses, wasRecent(bank) | foundWay.asUInt, Mux(tired(bank), 0.U, wasRecent(bank) & ~way))
    notes(bank).ways := RegNext(Mux(sweeps, 0.U, noted))
    when(notes(bank).valid) { recents(bank).write(notes(bank).set, notes(bank).ways) }
  }

  // 7: and then its node.
  private val place = Cat(VecInit(victims)(now.bank), now.bank, now.sets(now.bank))
  private val stores = Seq.iterate(store.valid, NodeCache.storing + 1)(RegNext(_, false.B)).last
  private val places = Seq.iterate(place, NodeCache.storing + 1)(RegNext(_)).last
  private val inside = Seq.iterate(stored, NodeCache.storing)(RegNext(_)).last
  when(stores) { nodes.write(places, inside) }
}

object NodeCache {

  /** Cycles between the decision to store a node and its writing: one, and those between a tag and its node. */
  val storing: Int = 4
}

/** The ways of a set whose tags are written. */
class TagWrite(params: Params) extends Bundle {
  val ways = UInt(params.ways.W)
  val set = UInt((params.setBits - 1).W)
}

/** Which ways of a set are recent from now on. */
class RecentWrite(params: Params) extends Bundle {
  val valid = Bool()
  val set = UInt((params.setBits - 1).W)
  val ways = UInt(params.ways.W)
}
