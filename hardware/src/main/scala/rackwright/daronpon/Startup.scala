package rackwright.daronpon

import chisel3._
import chisel3.util._

/** Clears all state and initialises it from the configuration: the reciprocal of each replica's cores, then the counts
  * of each service.
  */
class Startup(params: Params) extends Module {
  val start = IO(Input(Bool()))
  val free = IO(Output(Bool()))

  /** The table of flights is being cleared. */
  val clearing = IO(Input(Bool()))

  /** The index of the replica that is read, and its state as of the cycle before. */
  val replica = IO(Output(new ReplicaTurn(params)))
  val entry = IO(Input(new ReplicaEntry(params)))

  /** Requests a reciprocal of the replica's cores. */
  val divides = IO(Output(Bool()))
  val calculating = IO(Input(Bool()))

  /** The service that is reset and counted. */
  val service = IO(Output(UInt(params.serviceBits.W)))
  val resets = IO(Output(Bool()))
  val counting = IO(Input(Bool()))

  private object Phase extends ChiselEnum {
    val idle, clear, look, divide, divided, reset, count = Value
  }
  private val phase = RegInit(Phase.idle)
  private val replicaAt = RegInit(0.U(params.replicaBits.W))
  private val serviceAt = RegInit(0.U(params.serviceBits.W))

  free := phase === Phase.idle
  replica.index := replicaAt
  replica.action := ReplicaAction.none
  divides := phase === Phase.divide && entry.cores =/= 0.U
  service := serviceAt
  resets := phase === Phase.reset

  switch(phase) {
    is(Phase.idle) {
      replicaAt := 0.U
      serviceAt := 0.U
      when(start) { phase := Phase.clear }
    }
    is(Phase.clear) { when(!clearing) { phase := Phase.look } }
    is(Phase.look) { phase := Phase.divide }
    is(Phase.divide) { phase := Phase.divided }
    is(Phase.divided) {
      when(!calculating) {
        replica.action := ReplicaAction.reset
        replicaAt := replicaAt + 1.U
        phase := Mux(replicaAt.andR, Phase.reset, Phase.look)
      }
    }
    is(Phase.reset) { phase := Phase.count }
    is(Phase.count) {
      when(!counting) {
        serviceAt := serviceAt + 1.U
        phase := Mux(serviceAt === (params.services - 1).U, Phase.idle, Phase.reset)
      }
    }
  }
}
