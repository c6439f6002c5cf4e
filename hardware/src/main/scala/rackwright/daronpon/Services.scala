package rackwright.daronpon

import chisel3._
import chisel3.util._

/** The state of a service (`engine/crates/network/dispatch/src/service.rs`). */
class ServiceState extends Bundle {

  /** Cores of its replicas that are alive. */
  val cores = UInt(Sizes.coresBits.W)
  val reciprocal = UInt(Sizes.reciprocalBits.W)
  val outstanding = UInt(Sizes.countBits.W)
  val product = UInt(Sizes.productBits.W)

  /** The moving average of the load, with 8 more fractional bits. */
  val average = SInt((Sizes.loadBits + 10).W)

  /** The last announced power of two. */
  val told = UInt(Sizes.loadBits.W)

  /** The moving average of the error of announced loads, with 8 more fractional bits. */
  val error = SInt((Sizes.wireLoadBits + 10).W)
}

/** Updates of a service. */
object ServiceAction extends ChiselEnum {
  val none, reset, begin, end, count, err = Value
}

/** The state of the services. */
class Services(params: Params) extends Module {

  /** The index of the service that is read and updated. What is read is one cycle old. */
  val index = IO(Input(UInt(params.serviceBits.W)))
  val action = IO(Input(ServiceAction()))

  /** The new value: the counts with `count`, the error with `err`. */
  val value = IO(Input(new ServiceState))
  val state = IO(Output(new ServiceState))

  /** The service that is announced, its state as of the cycle before, and the update by its check. */
  val watched = IO(Input(UInt(params.serviceBits.W)))
  val watchedState = IO(Output(new ServiceState))
  val judged = IO(Flipped(Valid(new Judgement)))

  private val states = RegInit(VecInit(Seq.fill(params.services)(0.U.asTypeOf(new ServiceState))))
  state := RegNext(states(index))
  watchedState := RegNext(states(watched))

  states.zipWithIndex.foreach { case (state, i) =>
    def does(one: ServiceAction.Type): Bool = index === i.U && action === one
    when(does(ServiceAction.begin)) {
      state.outstanding := state.outstanding + 1.U
      state.product := state.product + state.reciprocal
    }
    when(does(ServiceAction.end)) {
      state.outstanding := state.outstanding - 1.U
      state.product := state.product - state.reciprocal
    }
    when(does(ServiceAction.count)) {
      state.cores := value.cores
      state.reciprocal := value.reciprocal
      state.outstanding := value.outstanding
      state.product := value.product
    }
    when(judged.valid && watched === i.U) {
      state.average := judged.bits.average
      state.told := judged.bits.told
    }
    when(does(ServiceAction.err)) { state.error := value.error }
    when(does(ServiceAction.reset)) {
      state := 0.U.asTypeOf(state)
      state.told := Services.one.U
    }
    assert(!does(ServiceAction.end) || state.outstanding =/= 0.U, "a request ends at a service that has none")
  }
}

/** Loads of services. */
object Services {

  /** The load of one request for each core. */
  val one: Int = 1 << Sizes.loadShift

  /** The load of a service. */
  def load(state: ServiceState): UInt = state.product >> Sizes.loadShift

  /** The load as reported to peers: all ones if no replica is alive. */
  def told(state: ServiceState): UInt = Mux(
    state.cores === 0.U,
    Fill(Sizes.wireLoadBits, 1.U),
    load(state).pad(Sizes.wireLoadBits)
  )

  /** The number of cores as reported to peers, saturated. */
  def toldCores(state: ServiceState): UInt = Mux(state.cores(16), 0xffff.U(16.W), state.cores(15, 0))
}
