package rackwright.daronpon

import chisel3._
import chisel3.util._

/** What is counted of a service (`engine/crates/network/dispatch/src/service.rs`). */
class ServiceState extends Bundle {

  /** Cores of its replicas that are alive. */
  val cores = UInt(Sizes.coresBits.W)
  val reciprocal = UInt(Sizes.reciprocalBits.W)
  val outstanding = UInt(Sizes.countBits.W)
  val product = UInt(Sizes.productBits.W)

  /** Of the load, with 8 more bits below the point. */
  val average = SInt((Sizes.loadBits + 10).W)

  /** The power of two that the peers believe. */
  val told = UInt(Sizes.loadBits.W)

  /** The moving average of how wrong what is believed was, with 8 more bits below the point. */
  val error = SInt((Sizes.wireLoadBits + 10).W)
}

/** What is to be done to a service. */
object ServiceDeed extends ChiselEnum {
  val none, reset, begin, end, count, err = Value
}

/** The services: what is counted of each. */
class Services(params: Params) extends Module {

  /** Which one is looked at and changed. What is seen of it is one cycle old. */
  val index = IO(Input(UInt(params.serviceBits.W)))
  val deed = IO(Input(ServiceDeed()))

  /** What it becomes: the counts with `count`, the error with `err`. */
  val value = IO(Input(new ServiceState))
  val state = IO(Output(new ServiceState))

  /** Which one is told to peers, as it was in the cycle before, and what is judged of it. */
  val watched = IO(Input(UInt(params.serviceBits.W)))
  val watchedState = IO(Output(new ServiceState))
  val judged = IO(Flipped(Valid(new Judgement)))

  private val states = RegInit(VecInit(Seq.fill(params.services)(0.U.asTypeOf(new ServiceState))))
  state := RegNext(states(index))
  watchedState := RegNext(states(watched))

  states.zipWithIndex.foreach { case (state, i) =>
    def does(one: ServiceDeed.Type): Bool = index === i.U && deed === one
    when(does(ServiceDeed.begin)) {
      state.outstanding := state.outstanding + 1.U
      state.product := state.product + state.reciprocal
    }
    when(does(ServiceDeed.end)) {
      state.outstanding := state.outstanding - 1.U
      state.product := state.product - state.reciprocal
    }
    when(does(ServiceDeed.count)) {
      state.cores := value.cores
      state.reciprocal := value.reciprocal
      state.outstanding := value.outstanding
      state.product := value.product
    }
    when(judged.valid && watched === i.U) {
      state.average := judged.bits.average
      state.told := judged.bits.told
    }
    when(does(ServiceDeed.err)) { state.error := value.error }
    when(does(ServiceDeed.reset)) {
      state := 0.U.asTypeOf(state)
      state.told := Services.one.U
    }
    assert(!does(ServiceDeed.end) || state.outstanding =/= 0.U, "a request ends at a service that has none")
  }
}

/** Loads of services. */
object Services {

  /** One request for each core. */
  val one: Int = 1 << Sizes.loadShift

  /** The load of a service. */
  def load(state: ServiceState): UInt = state.product >> Sizes.loadShift

  /** The load as it is told to peers: all ones when nobody is there to work. */
  def told(state: ServiceState): UInt = Mux(
    state.cores === 0.U,
    Fill(Sizes.wireLoadBits, 1.U),
    load(state).pad(Sizes.wireLoadBits)
  )

  /** The cores as they are told to peers. */
  def toldCores(state: ServiceState): UInt = Mux(state.cores(16), 0xffff.U(16.W), state.cores(15, 0))
}
