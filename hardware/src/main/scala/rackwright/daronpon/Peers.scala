package rackwright.daronpon

import chisel3._
import chisel3.util._

/** The state of another dispatcher (`engine/crates/network/dispatch/src/peer.rs`). */
class PeerState extends Bundle {
  val aliveUntil = UInt((Sizes.timeBits + 1).W)
  val truthAt = UInt((Sizes.timeBits + 1).W)
  val heard = Bool()
  val incarnation = UInt(32.W)
  val sequence = UInt(32.W)
}

/** The last known state of a peer's replicas of one service. */
class View extends Bundle {
  val load = UInt(Sizes.wireLoadBits.W)
  val cores = UInt(16.W)

  /** The increment of the load for one more request. */
  val step = UInt(Sizes.stepBits.W)
}

/** Updates of a peer. */
object PeerAction extends ChiselEnum {
  val none, hear, tell, believe = Value
}

/** The other dispatchers, and the last reported state of their racks. */
class Peers(params: Params) extends Module {
  val entries = IO(Input(Vec(params.peers, new PeerEntry(params))))

  /** Clears all peers. */
  val clear = IO(Input(Bool()))
  val now = IO(Input(UInt(Sizes.timeBits.W)))

  /** The index of the peer, and of its service, that is read and updated. What is read is one cycle old. */
  val index = IO(Input(UInt(params.peerBits.W)))
  val service = IO(Input(UInt(params.serviceBits.W)))
  val action = IO(Input(PeerAction()))

  /** The new value: the time until which it is alive and its latest message number with `hear`, the time of the next
    * full report with `tell`.
    */
  val value = IO(Input(new PeerState))
  val believed = IO(Input(new View))
  val entry = IO(Output(new PeerEntry(params)))
  val state = IO(Output(new PeerState))
  val view = IO(Output(new View))

  /** The peers that are alive; valid two cycles after a change of `now`. */
  val alive = IO(Output(Vec(params.peers, Bool())))

  /** Looks up a peer by its id: its index, and whether it exists, in the next cycle. */
  val id = IO(Input(UInt(16.W)))
  val found = IO(Output(Bool()))
  val place = IO(Output(UInt(params.peerBits.W)))

  /** The least loaded peer of `service`. */
  val least = IO(Output(new Contender(Sizes.wireLoadBits, params.peerBits)))

  /** The earliest time at which a peer is due a full report; all ones: none. Valid when the unit is idle. */
  val truth = IO(Output(UInt((Sizes.timeBits + 1).W)))

  /** `truth` is not valid yet. */
  val searching = IO(Output(Bool()))

  private val states = RegInit(VecInit(Seq.fill(params.peers)(0.U.asTypeOf(new PeerState))))
  private val unknown = {
    val view = Wire(new View)
    view.load := Fill(Sizes.wireLoadBits, 1.U)
    view.cores := 0.U
    view.step := 0.U
    view
  }
  private val views = RegInit(VecInit(Seq.fill(params.peers)(VecInit(Seq.fill(params.services)(unknown)))))
  private val isAlive = RegNext(VecInit(states.map(now < _.aliveUntil)))
  private val tournament = Module(new Tournament(params.peers, Sizes.wireLoadBits))
  private def used(entry: PeerEntry): Bool = entry.services.orR

  alive := VecInit(isAlive.zip(entries).map { case (isAlive, entry) => isAlive && used(entry) })
  entry := RegNext(entries(index))
  state := RegNext(states(index))
  view := RegNext(views(index)(service))

  private val matches = VecInit(entries.map(entry => used(entry) && entry.id === id)).asUInt
  found := RegNext(matches.orR)
  place := RegNext(OHToUInt(matches))

  tournament.in.zipWithIndex.foreach { case (contender, i) =>
    val view = views(i)(service)
    contender.present := alive(i) && view.cores =/= 0.U
    contender.late := !entries(i).after
    contender.cost := view.load
    contender.index := i.U
  }
  least := tournament.out

  states.zipWithIndex.foreach { case (state, i) =>
    def does(one: PeerAction.Type): Bool = index === i.U && action === one
    when(does(PeerAction.hear)) {
      state.aliveUntil := value.aliveUntil
      state.heard := true.B
      state.incarnation := value.incarnation
      state.sequence := value.sequence
    }
    when(does(PeerAction.tell)) { state.truthAt := value.truthAt }
    when(does(PeerAction.believe)) { views(i)(service) := believed }
  }

  // Examines one peer in a cycle, starting over after every change.
  private val at = RegInit(0.U((params.peerBits + 1).W))
  private val earliest = Reg(UInt((Sizes.timeBits + 1).W))
  private val seen = at(params.peerBits - 1, 0)
  searching := !at(params.peerBits)
  truth := earliest
  when(searching) {
    val truthAt = states(seen).truthAt
    val never = Fill(Sizes.timeBits + 1, 1.U)
    val one = Mux(used(entries(seen)), truthAt, never)
    val before = Mux(seen === 0.U, never, earliest)
    earliest := Mux(one < before, one, before)
    at := at + 1.U
  }
  when(action === PeerAction.tell || clear) { at := 0.U }
  when(clear) {
    states.foreach(_ := 0.U.asTypeOf(new PeerState))
    views.foreach(_.foreach(_ := unknown))
  }
}

/** Updates of the state of peers. */
object Peers {

  /** The state after one more request was sent to a peer, until its next report. */
  def withOneMore(view: View): View = {
    val more = view.load +& view.step
    val most = (BigInt(1) << Sizes.wireLoadBits) - 2
    val next = Wire(new View)
    next := view
    next.load := Mux(more > most.U, most.U, more)
    next
  }
}
