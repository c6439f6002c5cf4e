package rackwright.daronpon

import chisel3._
import chisel3.util._

/** The action that follows a recount of a service. */
object NextStep extends ChiselEnum {

  /** No action; check the load; announce the load to the peers. */
  val none, judge, tell = Value
}

/** Recounts a service: sums the cores and the outstanding requests of its replicas that are alive. Takes one cycle for
  * each replica, and some forty more.
  */
class Recount(params: Params) extends Module {
  val start = IO(Input(Bool()))
  val service = IO(Input(UInt(params.serviceBits.W)))
  val nextStep = IO(Input(NextStep()))
  val busy = IO(Output(Bool()))

  /** The service that is recounted. */
  val subject = IO(Output(UInt(params.serviceBits.W)))

  /** The index of the replica that is read, and its state as of the cycle before. */
  val index = IO(Output(UInt(params.replicaBits.W)))
  val entry = IO(Input(new ReplicaEntry(params)))
  val state = IO(Input(new ReplicaState))

  /** Access to the arithmetic unit, which this module owns while it is busy. */
  val begins = IO(Output(Bool()))
  val divides = IO(Output(Bool()))
  val left = IO(Output(UInt(Sizes.countBits.W)))
  val right = IO(Output(UInt(Sizes.countBits.W)))
  val calculating = IO(Input(Bool()))
  val reciprocal = IO(Input(UInt(Sizes.reciprocalBits.W)))

  /** The sums are valid. */
  val done = IO(Output(Bool()))
  val cores = IO(Output(UInt(Sizes.coresBits.W)))
  val outstanding = IO(Output(UInt(Sizes.countBits.W)))
  val usedReciprocal = IO(Output(UInt(Sizes.reciprocalBits.W)))

  /** Starts the announcer; the second signal requests a check of the load. */
  val announces = IO(Output(Bool()))
  val judges = IO(Output(Bool()))
  val announcing = IO(Input(Bool()))

  private object Phase extends ChiselEnum {
    val idle, sum, divide, divided, multiply, multiplied, announce, announced = Value
  }
  private val phase = RegInit(Phase.idle)
  private val of = Reg(UInt(params.serviceBits.W))
  private val next = Reg(NextStep())
  private val at = Reg(UInt((params.replicaBits + 1).W))
  private val coresSum = Reg(UInt(Sizes.coresBits.W))
  private val outstandingSum = Reg(UInt(Sizes.countBits.W))

  busy := phase =/= Phase.idle
  subject := of
  index := at(params.replicaBits - 1, 0)
  begins := phase === Phase.divide || phase === Phase.multiply
  divides := phase === Phase.divide
  left := outstandingSum
  right := Mux(divides, coresSum, reciprocal)
  private val kept = RegEnable(reciprocal, phase === Phase.multiply)
  usedReciprocal := kept
  cores := coresSum
  outstanding := outstandingSum
  done := phase === Phase.multiplied && !calculating
  announces := phase === Phase.announce
  judges := next === NextStep.judge

  private val isMember = entry.present && !state.failed && entry.service === of
  switch(phase) {
    is(Phase.idle) {
      of := service
      next := nextStep
      at := 0.U
      coresSum := 0.U
      outstandingSum := 0.U
      when(start) { phase := Phase.sum }
    }
    is(Phase.sum) {
      at := at + 1.U
      when(at =/= 0.U && isMember) {
        coresSum := coresSum + entry.cores
        outstandingSum := outstandingSum + state.outstanding
      }
      when(at === params.replicas.U) { phase := Phase.divide }
    }
    is(Phase.divide) { phase := Phase.divided }
    is(Phase.divided) { when(!calculating) { phase := Phase.multiply } }
    is(Phase.multiply) { phase := Phase.multiplied }
    is(Phase.multiplied) {
      when(done) { phase := Mux(next === NextStep.none, Phase.idle, Phase.announce) }
    }
    is(Phase.announce) { phase := Phase.announced }
    is(Phase.announced) { when(!announcing) { phase := Phase.idle } }
  }
}
