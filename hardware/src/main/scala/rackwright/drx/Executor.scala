package rackwright.drx

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.stream.StreamRange

/** Executes steps in order: issues vectors to the lanes and transfers to the engines, and stalls at synchronisation
  * instructions.
  *
  * A transfer is issued when no result is in flight, so that it sees every earlier result in the scratchpad. A failure
  * is reported at such a time as well, since an earlier chunk may fail.
  */
class Executor(params: Params) extends Module {
  private val countBits = Isa.field("synchronisation", "count").bits

  val step = IO(Flipped(Decoupled(new Step(params))))

  /** The ranges that the program may access: its destination, then its inputs. */
  val regions = IO(Input(Vec(Isa.regions, new StreamRange)))

  /** Starts a program, which has not stored anything. */
  val start = IO(Input(Bool()))

  /** Abandons the program. */
  val clear = IO(Input(Bool()))

  val chunk = IO(Decoupled(new CheckedChunk(params)))

  /** No result is in flight. */
  val computed = IO(Input(Bool()))
  val load = IO(Decoupled(new Transfer(params)))
  val store = IO(Decoupled(new Transfer(params)))

  /** A transfer has completed. */
  val loaded = IO(Input(Bool()))
  val stored = IO(Input(Bool()))

  /** The current instruction, and whether it is issued. */
  val at = IO(Output(UInt(params.indexBits.W)))
  val taken = IO(Output(Bool()))

  /** The program has ended, or failed. */
  val ended = IO(Output(Bool()))
  val failure = IO(Valid(new Failure(params)))

  /** Total size in bytes of the transfers to memory. */
  val outputBytes = IO(Output(UInt(64.W)))

  /** A synchronisation instruction is stalling. */
  val transferStall = IO(Output(Bool()))

  private val stage = Module(new Queue(new CheckedStep(params), 1, pipe = true, hasFlush = true))
  stage.flush := clear
  stage.io.enq.valid := step.valid
  step.ready := stage.io.enq.ready
  stage.io.enq.bits := CheckedStep(params, step.bits, regions)
  private val checked = stage.io.deq
  private val bits = checked.bits.step
  at := bits.index
  taken := checked.fire
  private def is(kind: StepKind.Type): Bool = checked.valid && bits.kind === kind

  private val cutter = Module(new VectorCutter(params))
  private val check = Module(new ChunkCheck(params))
  cutter.step.valid := is(StepKind.compute)
  cutter.step.bits := checked.bits
  cutter.clear := clear
  check.clear := clear
  check.in <> cutter.chunk
  chunk <> check.out
  private val settled = check.empty && computed

  private val loads = new UnderWay(load.fire, loaded)
  private val stores = new UnderWay(store.fire, stored)

  /** Counts the outstanding transfers of one direction. */
  private class UnderWay(begins: => Bool, ends: Bool) {
    val count = RegInit(0.U(countBits.W))
    def update(): Unit = count := count + begins - ends
  }

  private val outsideScratchpad = checked.bits.placeEnd > params.scratchpadBytes.U
  private val outsideRegion = checked.bits.regionEnd > checked.bits.regionLength
  private val toDestination = bits.region === 0.U
  private val (loading, storing) = (is(StepKind.load), is(StepKind.store))
  private val impossible = (loading || storing) &&
    (outsideScratchpad || bits.size === 0.U || (loading && toDestination) || (storing && !toDestination))
  private val tooFar = (loading || storing) && outsideRegion
  private val permitted = !impossible && !tooFar && settled
  load.valid := loading && permitted
  store.valid := storing && permitted
  for (transfer <- Seq(load, store)) {
    transfer.bits.address := checked.bits.address
    transfer.bits.place := bits.first.address
    transfer.bits.size := bits.size
    transfer.bits.index := bits.index
  }
  loads.update()
  stores.update()

  private val loadsDone = loads.count <= bits.count
  private val storesDone = stores.count <= bits.count
  ended := is(StepKind.end) && settled && loads.count === 0.U && stores.count === 0.U
  checked.ready := MuxLookup(bits.kind, false.B)(
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

  // Steps behind a broken chunk have not been issued; of several failures, the end of the program is the oldest.
  private val wrong = Failure.first(
    params,
    (check.broken, Status.malformed, check.index),
    (settled && (is(StepKind.broken) || impossible), Status.malformed, bits.index),
    (settled && tooFar, Mux(storing, Status.outputFull, Status.malformed), bits.index)
  )
  failure.valid := wrong.valid && computed
  failure.bits := wrong.bits

  private val written = RegInit(0.U(64.W))
  when(store.fire) { written := written + bits.size }
  when(start) { written := 0.U }
  outputBytes := written
  when(clear) {
    loads.count := 0.U
    stores.count := 0.U
  }
}
