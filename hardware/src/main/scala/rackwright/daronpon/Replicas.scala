package rackwright.daronpon

import chisel3._
import chisel3.util._

/** The state of a replica (`engine/crates/network/dispatch/src/replica.rs`). */
class ReplicaState extends Bundle {
  val failed = Bool()
  val reciprocal = UInt(Sizes.reciprocalBits.W)
  val outstanding = UInt(Sizes.countBits.W)

  /** The product of outstanding requests and reciprocal. */
  val product = UInt(Sizes.productBits.W)

  /** Outstanding requests by the epoch in which they started. */
  val byEpoch = Vec(Sizes.epochs, UInt(Sizes.countBits.W))

  /** The epoch of its latest response. */
  val heard = UInt(32.W)
}

/** Updates of a replica. */
object ReplicaAction extends ChiselEnum {
  val none, reset, begin, end, giveUp, hear, forget, fail, revive = Value
}

/** An access to a replica: its index, and the update. */
class ReplicaTurn(params: Params) extends Bundle {
  val index = UInt(params.replicaBits.W)
  val action = ReplicaAction()
}

/** The replicas of the rack: their configuration and their state. */
class Replicas(params: Params) extends Module {
  val entries = IO(Input(Vec(params.replicas, new ReplicaEntry(params))))

  /** The replica that is read and updated. What is read is one cycle old. */
  val turn = IO(Input(new ReplicaTurn(params)))
  val epoch = IO(Input(UInt(32.W)))

  /** The lowest bits of the epoch in which a completed request had started. */
  val begun = IO(Input(UInt(log2Ceil(Sizes.epochs).W)))

  /** The new value: the reciprocal with `reset`, the product with `forget`. */
  val value = IO(Input(UInt(Sizes.productBits.W)))
  val entry = IO(Output(new ReplicaEntry(params)))
  val state = IO(Output(new ReplicaState))

  /** The service whose least loaded replica is selected. */
  val service = IO(Input(UInt(params.serviceBits.W)))
  val least = IO(Output(new Contender(Sizes.loadBits, params.replicaBits)))
  val anyFailed = IO(Output(Bool()))

  private val states = RegInit(VecInit(Seq.fill(params.replicas)(0.U.asTypeOf(new ReplicaState))))
  private val tournament = Module(new Tournament(params.replicas, Sizes.loadBits))

  entry := RegNext(entries(turn.index))
  state := RegNext(states(turn.index))
  anyFailed := entries.zip(states).map { case (entry, state) => entry.present && state.failed }.reduce(_ || _)

  tournament.in.zipWithIndex.foreach { case (contender, i) =>
    contender.present := entries(i).present && !states(i).failed && entries(i).service === service
    contender.late := false.B
    contender.cost := (states(i).product +& states(i).reciprocal) >> Sizes.loadShift
    contender.index := i.U
  }
  least := tournament.out

  private def slot(epoch: UInt): UInt = epoch(log2Ceil(Sizes.epochs) - 1, 0)
  states.zipWithIndex.foreach { case (state, i) =>
    def does(actions: ReplicaAction.Type*): Bool = turn.index === i.U && actions.map(turn.action === _).reduce(_ || _)
    val ends = does(ReplicaAction.end, ReplicaAction.giveUp)
    val left = state.byEpoch(slot(epoch))
    when(does(ReplicaAction.begin)) {
      state.outstanding := state.outstanding + 1.U
      state.product := state.product + state.reciprocal
      state.byEpoch(slot(epoch)) := state.byEpoch(slot(epoch)) + 1.U
    }
    when(ends) {
      state.outstanding := state.outstanding - 1.U
      state.product := state.product - state.reciprocal
      state.byEpoch(begun) := state.byEpoch(begun) - 1.U
    }
    when(does(ReplicaAction.end, ReplicaAction.hear)) { state.heard := epoch }
    when(does(ReplicaAction.forget)) {
      state.outstanding := state.outstanding - left
      state.product := value
      state.byEpoch(slot(epoch)) := 0.U
    }
    when(does(ReplicaAction.fail)) { state.failed := true.B }
    when(does(ReplicaAction.revive)) { state.failed := false.B }
    when(does(ReplicaAction.reset)) {
      state := 0.U.asTypeOf(state)
      state.reciprocal := value
    }
    assert(!ends || state.byEpoch(begun) =/= 0.U, "a request ends at a replica that had none from its epoch")
    assert(state.outstanding === state.byEpoch.reduce(_ + _), "the requests of a replica are those of its epochs")
    assert(
      state.product === (state.outstanding * state.reciprocal)(Sizes.productBits - 1, 0),
      "the product of a replica is that of its requests"
    )
  }
}
