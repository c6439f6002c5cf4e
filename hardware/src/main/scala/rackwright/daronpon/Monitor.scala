package rackwright.daronpon

import chisel3._
import chisel3.util._

/** The new state of a load after a check. */
class Judgement extends Bundle {
  val average = SInt((Sizes.loadBits + 10).W)
  val told = UInt(Sizes.loadBits.W)
}

/** Decides when a load is announced to the peers (Wang 2025, section 2.3.3;
  * `engine/crates/network/dispatch/src/monitor.rs`): when it has doubled or halved since the last announcement, and is
  * not below its moving average and the floor. Takes six cycles.
  */
class Monitor extends Module {
  val settings = IO(Input(new Settings))
  val start = IO(Input(Bool()))

  /** The state of the service after the change; held until `done`. */
  val state = IO(Input(new ServiceState))
  val done = IO(Output(Bool()))
  val doubled = IO(Output(Bool()))
  val halved = IO(Output(Bool()))

  val judgement = IO(Output(new Judgement))

  private val stage = ShiftRegister(start, 5, false.B, true.B)
  private val load = Services.load(state)
  private val difference = RegNext(Cat(load, 0.U(8.W)).zext - state.average)
  private val shifted = RegNext(difference >> settings.averageShift)
  private val next = RegNext(state.average + shifted)
  private val usual = RegNext((next >> 8).asUInt)
  private val floor = Cat(settings.gossipFloor, 0.U(Sizes.loadShift.W))
  private val threshold = Mux(usual > floor, usual, floor)
  private val least = Mux(floor > (2 * Services.one).U, floor, (2 * Services.one).U)
  private val isDoubled = RegNext(load >= Cat(state.told, 0.U(1.W)) && load >= threshold)
  private val isHalved = RegNext(state.told >= least && load <= (state.told >> 1))
  private val whole = load >> Sizes.loadShift
  private val level = RegNext(Mux(whole === 0.U, 1.U, Reverse(PriorityEncoderOH(Reverse(whole)))))

  done := stage
  doubled := isDoubled
  halved := isHalved && !isDoubled
  judgement.average := next
  judgement.told := Mux(isDoubled || isHalved, Cat(level, 0.U(Sizes.loadShift.W)), state.told)
}
