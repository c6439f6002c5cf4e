package rackwright.daronpon

import chisel3._
import chisel3.util._

import rackwright.port.StreamFlit

/** Receives frames, each behind a flit with its time of arrival, and classifies each one when it is complete.
  *
  * Bytes are forwarded through `pieces`; the classification follows through `arrival`, in the same order. A frame
  * longer than [[Sizes.maxFrameBytes]] is truncated and counts as malformed.
  */
class Parser(params: Params) extends Module {
  val network = IO(Flipped(Decoupled(new StreamFlit(Sizes.flitBytes))))
  val key = IO(Input(UInt(128.W)))
  val tables = IO(Input(new Tables(params)))
  val pieces = IO(Decoupled(new Piece))
  val arrival = IO(Decoupled(new Arrival(params)))
  val told = IO(Output(new Told))
  val entries = IO(Output(Vec(Sizes.entries, new ReportEntry)))

  /** The report is no longer needed. */
  val release = IO(Input(Bool()))
  val idle = IO(Output(Bool()))

  private val limit = Sizes.maxFrameBytes / Sizes.flitBytes
  private val reader = Module(new ReportReader)
  private val classifier = Module(new Classifier(params))

  private val inFrame = RegInit(false.B)
  private val index = RegInit(0.U(12.W))
  private val header = Reg(Vec(8, UInt(64.W)))
  private val previous = Reg(UInt(64.W))
  private val time = Reg(UInt(Sizes.timeBits.W))
  private val bytes = Reg(UInt(16.W))
  private val giant = RegInit(false.B)
  private val hasReport = RegInit(false.B)

  /** A complete frame that has not been classified. */
  private val pending = RegInit(false.B)

  /** The report reader holds a report that is still needed. */
  private val reported = RegInit(false.B)

  private val flit = network.bits
  private val count = Mux(flit.last, PriorityEncoder(Cat(true.B, ~flit.keep)), Sizes.flitBytes.U)
  private val isReport = {
    val kind = flit.data(47, 40)
    Classifier.isDatagram(header) && flit.data(31, 16) === Classifier.magic && flit.data(39, 32) === 1.U &&
    (kind === Kind.redirected.U || kind === Kind.gossip.U)
  }
  private val stores = inFrame && !giant
  private val reading = inFrame && hasReport && index >= 6.U
  private val readable = !reading || reader.ready
  private val waits = inFrame && index === 5.U && isReport && reported
  private val free = Mux(inFrame, !waits && readable && (!stores || pieces.ready), !pending || classifier.in.ready)
  network.ready := free
  private val take = network.fire

  pieces.valid := network.valid && stores && !waits && readable
  pieces.bits.data := flit.data
  pieces.bits.count := count
  private val cut = index === (limit - 1).U
  pieces.bits.last := flit.last || cut

  reader.key := key
  reader.flit := flit
  reader.index := index
  reader.count := count
  reader.valid := network.valid && reading && (!stores || pieces.ready)
  reader.previous := previous
  reader.start := take && inFrame && index === 5.U && isReport && !flit.last
  reader.redirected := flit.data(47, 40) === Kind.redirected.U
  told := reader.told
  entries := reader.entries

  when(classifier.in.fire) { pending := false.B }
  when(release) { reported := false.B }
  when(take && !inFrame) {
    time := flit.data(Sizes.timeBits - 1, 0)
    index := 0.U
    bytes := 0.U
    giant := false.B
    hasReport := false.B
    inFrame := !flit.last
    pending := flit.last
  }
  when(take && inFrame) {
    when(index < 8.U) { header(index(2, 0)) := flit.data }
    previous := flit.data
    index := index + !index.andR
    when(!giant) { bytes := bytes + count }
    when(cut && !flit.last) { giant := true.B }
    when(reader.start) {
      hasReport := true.B
      reported := true.B
    }
    when(flit.last) {
      inFrame := false.B
      pending := true.B
    }
  }

  classifier.in.valid := pending
  classifier.in.bits.header := header
  classifier.in.bits.bytes := bytes
  classifier.in.bits.time := time
  classifier.in.bits.giant := giant
  classifier.in.bits.hasReport := hasReport
  classifier.whole := reader.whole
  classifier.authentic := reader.authentic
  classifier.origin := reader.origin
  classifier.replicas := tables.replicas
  classifier.services := tables.services
  arrival <> classifier.out
  idle := !pending && classifier.idle
}
