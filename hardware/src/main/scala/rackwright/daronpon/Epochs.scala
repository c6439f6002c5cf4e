package rackwright.daronpon

import chisel3._
import chisel3.util._

/** Ends epochs: drops the requests that are too old, and detects replicas that have stopped responding
  * (`engine/crates/network/dispatch/src/time.rs`). Takes some twenty cycles for each replica.
  */
class Epochs(params: Params) extends Module with Counts {
  val settings = IO(Input(new Settings))

  /** Restarts time. */
  val clear = IO(Input(Bool()))

  /** Ends every epoch that is over at `now`, which must be held meanwhile. */
  val start = IO(Input(Bool()))
  val now = IO(Input(UInt(Sizes.timeBits.W)))
  val free = IO(Output(Bool()))
  val epoch = IO(Output(UInt(32.W)))

  /** The end of the current epoch. */
  val ends = IO(Output(UInt((Sizes.timeBits + 1).W)))

  /** A new epoch starts in the next cycle. */
  val ended = IO(Output(Bool()))

  /** The index of the replica that is read, and its state as of the cycle before. */
  val replica = IO(Output(new ReplicaTurn(params)))
  val entry = IO(Input(new ReplicaEntry(params)))
  val state = IO(Input(new ReplicaState))

  /** Requests a product of the remaining requests and the reciprocal of the replica. */
  val multiplies = IO(Output(Bool()))
  val left = IO(Output(UInt(Sizes.countBits.W)))
  val calculating = IO(Input(Bool()))

  /** Requests a recount of a service, because a replica has failed. */
  val recounts = IO(Output(Bool()))
  val service = IO(Output(UInt(params.serviceBits.W)))
  val fails = IO(Output(Bool()))
  val counting = IO(Input(Bool()))

  private object Phase extends ChiselEnum {
    val idle, settle, look, multiply, forget, fail, recount, next = Value
  }
  private val phase = RegInit(Phase.idle)
  private val number = RegInit(0.U(32.W))
  private val end = RegInit(0.U((Sizes.timeBits + 1).W))

  /** The number of epochs ended in a row: after as many as are remembered, no request is left to drop. */
  private val many = Reg(UInt(3.W))
  private val at = Reg(UInt(params.replicaBits.W))
  private val old = state.byEpoch(number(log2Ceil(Sizes.epochs) - 1, 0))
  private val waits = Seq(2, 3)
    .map(back => state.byEpoch((number - back.U)(log2Ceil(Sizes.epochs) - 1, 0)) =/= 0.U)
    .reduce(_ || _)
  private val isSilent = RegNext(!state.failed && waits && (number - state.heard) >= 2.U)
  private val product = RegNext(state.outstanding - old)

  free := phase === Phase.idle
  epoch := number
  ends := end
  ended := false.B
  replica.index := at
  replica.action := ReplicaAction.none
  multiplies := phase === Phase.multiply
  left := product
  recounts := false.B
  service := RegNext(entry.service)
  fails := phase === Phase.fail

  private val waited = RegInit(false.B)
  switch(phase) {
    is(Phase.idle) {
      many := 0.U
      when(start) { phase := Phase.settle }
    }
    is(Phase.settle) {
      at := 0.U
      waited := false.B
      when(now < end) { phase := Phase.idle }.otherwise {
        ended := true.B
        number := number + 1.U
        end := end + settings.epoch
        when(many =/= Sizes.epochs.U) {
          many := many + 1.U
          phase := Phase.look
        }
      }
    }
    is(Phase.look) {
      // The state of a replica is one cycle old when it is read, and what is derived from it takes another cycle.
      waited := true.B
      when(waited) { phase := Phase.multiply }
    }
    is(Phase.multiply) {
      // Only a replica that loses requests gets a new product; for the others the product would be unchanged.
      phase := Mux(entry.present, Phase.forget, Phase.next)
    }
    is(Phase.forget) {
      when(!calculating) {
        replica.action := ReplicaAction.forget
        count("expired", old)
        recounts := !isSilent && !state.failed && old =/= 0.U
        phase := Mux(isSilent, Phase.fail, Mux(recounts, Phase.recount, Phase.next))
      }
    }
    is(Phase.fail) {
      replica.action := ReplicaAction.fail
      count("failures")
      recounts := true.B
      phase := Phase.recount
    }
    is(Phase.recount) { when(!counting) { phase := Phase.next } }
    is(Phase.next) {
      at := at + 1.U
      waited := false.B
      phase := Mux(at.andR, Phase.settle, Phase.look)
    }
  }
  when(clear) {
    number := 0.U
    end := settings.epoch
  }
}
