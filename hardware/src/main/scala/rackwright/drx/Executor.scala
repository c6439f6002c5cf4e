package rackwright.drx

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.stream.StreamRange

/** Carries out steps in their order: gives vectors to the lanes and transfers to the engines, and waits where the
  * program says so.
  *
  * A transfer is given away when no result is under way, so that it finds in the scratchpad what was computed before.
  */
class Executor(params: Params) extends Module {
  private val countBits = Isa.field("synchronisation", "count").bits

  val step = IO(Flipped(Decoupled(new Step(params))))

  /** What the program may access: its destination, then its inputs. */
  val regions = IO(Input(Vec(Isa.regions, new StreamRange)))

  /** A new program: nothing has been stored. */
  val start = IO(Input(Bool()))

  /** Give up what was begun. */
  val clear = IO(Input(Bool()))

  val chunk = IO(Decoupled(new VectorChunk(params)))

  /** No result is under way. */
  val computed = IO(Input(Bool()))
  val load = IO(Decoupled(new Transfer(params)))
  val store = IO(Decoupled(new Transfer(params)))

  /** A transfer is done. */
  val loaded = IO(Input(Bool()))
  val stored = IO(Input(Bool()))

  /** The program has ended, or failed. */
  val ended = IO(Output(Bool()))
  val failure = IO(Valid(new Failure(params)))

  /** Bytes of the transfers to memory. */
  val outputBytes = IO(Output(UInt(64.W)))

  /** A wait stands still. */
  val transferStall = IO(Output(Bool()))

  private val bits = step.bits
  private def is(kind: StepKind.Type): Bool = step.valid && bits.kind === kind

  private val cutter = Module(new VectorCutter(params))
  cutter.step.valid := is(StepKind.compute)
  cutter.step.bits := bits
  cutter.clear := clear
  chunk.valid := cutter.chunk.valid && !cutter.broken
  chunk.bits := cutter.chunk.bits
  cutter.chunk.ready := chunk.ready && !cutter.broken

  private val loads = new UnderWay(load.fire, loaded)
  private val stores = new UnderWay(store.fire, stored)

  /** Transfers of one direction that have not ended. */
  private class UnderWay(begins: => Bool, ends: Bool) {
    val count = RegInit(0.U(countBits.W))
    def update(): Unit = count := count + begins - ends
  }

  private val region = regions(bits.region)
  private val (place, offset) = (bits.first.address, bits.second.address)
  private val outsideScratchpad = place +& bits.size > params.scratchpadBytes.U
  private val outsideRegion = (offset +& bits.size) > region.length
  private val toDestination = bits.region === 0.U
  private val (loading, storing) = (is(StepKind.load), is(StepKind.store))
  private val impossible = (loading || storing) &&
    (outsideScratchpad || bits.size === 0.U || (loading && toDestination) || (storing && !toDestination))
  private val tooFar = (loading || storing) && outsideRegion
  private val permitted = !impossible && !tooFar && computed
  load.valid := loading && permitted
  store.valid := storing && permitted
  for (transfer <- Seq(load, store)) {
    transfer.bits.address := region.address + offset
    transfer.bits.place := place
    transfer.bits.size := bits.size
    transfer.bits.index := bits.index
  }
  loads.update()
  stores.update()

  private val loadsDone = loads.count <= bits.count
  private val storesDone = stores.count <= bits.count
  ended := is(StepKind.end) && computed && loads.count === 0.U && stores.count === 0.U
  step.ready := MuxLookup(bits.kind, false.B)(
    Seq(
      StepKind.compute -> cutter.step.ready,
      StepKind.load -> (load.ready && permitted),
      StepKind.store -> (store.ready && permitted),
      StepKind.waitLoads -> loadsDone,
      StepKind.waitStores -> storesDone,
      StepKind.end -> ended
    )
  )
  transferStall := (is(StepKind.waitLoads) && !loadsDone) || (is(StepKind.waitStores) && !storesDone) ||
    (is(StepKind.end) && !ended) || (loading && permitted && !load.ready) || (storing && permitted && !store.ready)

  failure := Failure.first(
    params,
    (is(StepKind.broken) || (is(StepKind.compute) && cutter.broken) || impossible, Status.malformed, bits.index),
    (tooFar, Mux(storing, Status.outputFull, Status.malformed), bits.index)
  )

  private val written = RegInit(0.U(64.W))
  when(store.fire) { written := written + bits.size }
  when(start) { written := 0.U }
  outputBytes := written
  when(clear) {
    loads.count := 0.U
    stores.count := 0.U
  }
}
