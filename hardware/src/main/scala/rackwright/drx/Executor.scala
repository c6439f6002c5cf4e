package rackwright.drx

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.stream.StreamRange

/** Carries out steps in their order: gives vectors to the lanes and transfers to the engines, and waits where the
  * program says so.
  *
  * A transfer is given away when no result is under way, so that it finds in the scratchpad what was computed before;
  * so is a failure told, which may be of a chunk.
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

  val chunk = IO(Decoupled(new CheckedChunk(params)))

  /** No result is under way. */
  val computed = IO(Input(Bool()))
  val load = IO(Decoupled(new Transfer(params)))
  val store = IO(Decoupled(new Transfer(params)))

  /** A transfer is done. */
  val loaded = IO(Input(Bool()))
  val stored = IO(Input(Bool()))

  /** The instruction that is being carried out; it is taken. */
  val at = IO(Output(UInt(params.indexBits.W)))
  val taken = IO(Output(Bool()))

  /** The program has ended, or failed. */
  val ended = IO(Output(Bool()))
  val failure = IO(Valid(new Failure(params)))

  /** Bytes of the transfers to memory. */
  val outputBytes = IO(Output(UInt(64.W)))

  /** A wait stands still. */
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

  /** Transfers of one direction that have not ended. */
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

  // Steps behind a chunk that is broken have not begun; the program's end is the oldest of what is wrong.
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
