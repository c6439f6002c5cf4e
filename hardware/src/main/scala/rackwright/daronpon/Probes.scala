package rackwright.daronpon

import chisel3._
import chisel3.util._

/** Probes failed replicas. Takes two cycles for each replica. */
class Probes(params: Params) extends Module with Counts {
  val settings = IO(Input(new Settings))

  /** Restarts time. */
  val clear = IO(Input(Bool()))

  /** A replica has failed at `now`. */
  val failed = IO(Input(Bool()))

  /** Sends probes if they are due at `now`. */
  val start = IO(Input(Bool()))
  val now = IO(Input(UInt(Sizes.timeBits.W)))
  val free = IO(Output(Bool()))

  /** The time at which the next probes are due. */
  val due = IO(Output(UInt((Sizes.timeBits + 1).W)))

  /** The index of the replica that is read, and its state as of the cycle before. */
  val replica = IO(Output(UInt(params.replicaBits.W)))
  val entry = IO(Input(new ReplicaEntry(params)))
  val state = IO(Input(new ReplicaState))
  val order = IO(Decoupled(new Order))

  private object Phase extends ChiselEnum {
    val idle, judge, look, ask = Value
  }
  private val phase = RegInit(Phase.idle)
  private val at = Reg(UInt(params.replicaBits.W))
  private val next = RegInit(0.U((Sizes.timeBits + 1).W))

  free := phase === Phase.idle
  due := next
  replica := at
  order.valid := phase === Phase.ask && entry.present && state.failed
  order.bits.action := Action.own
  order.bits.target := entry.place
  order.bits.kind := Kind.probe.U
  order.bits.strip := false.B
  order.bits.stripEntries := 0.U
  order.bits.stripSum := 0.U
  order.bits.insert := false.B
  order.bits.insertEntries := 0.U
  order.bits.fields := Sums.ownFields
  count("probes", order.fire)

  switch(phase) {
    is(Phase.idle) {
      at := 0.U
      when(start) { phase := Phase.judge }
    }
    is(Phase.judge) {
      phase := Phase.idle
      when(next <= now) {
        next := now +& settings.probeInterval
        phase := Phase.look
      }
    }
    is(Phase.look) { phase := Phase.ask }
    is(Phase.ask) {
      when(!order.valid || order.ready) {
        at := at + 1.U
        phase := Mux(at.andR, Phase.idle, Phase.look)
      }
    }
  }
  when(failed) { next := now }
  when(clear) { next := settings.probeInterval }
}
