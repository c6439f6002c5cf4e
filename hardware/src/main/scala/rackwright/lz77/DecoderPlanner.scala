package rackwright.lz77

import chisel3._
import chisel3.util._

/** What one step does: lane i makes the bytes from where lane i - 1 ended (or 0) up to `ends(i)`, from its
  * `origins(i)`.
  */
class Step(val params: DecoderParams) extends Bundle {
  val origins = Vec(params.lanes, UInt(Origin.width.W))
  val ends = Vec(params.lanes, UInt(params.countBits.W))

  /** All bytes made. */
  def count: UInt = ends.last
}

/** Decides how many bytes of the oldest segments are made in a step.
  *
  * A step makes at most one line. No lane uses a byte that the same step makes: a copy from closer by than the end of
  * its bytes is cut there. So that short repetitions don't stay slow, the offset of a copy that was cut at its own
  * offset doubles, as the bytes before it then hold two periods; the next copies with the same offset go on with what
  * was reached.
  */
class DecoderPlanner(params: DecoderParams) extends Module {
  private val lanes = params.lanes
  private val bytes = params.bytes
  private val runBits = params.countBits + 1

  /** Forgets the segment under way. */
  val clear = IO(Input(Bool()))

  /** A step may be made in this cycle. */
  val enable = IO(Input(Bool()))

  /** The oldest segments, and how many there are. */
  val head = IO(Input(Vec(lanes, new QueuedSegment(params))))
  val held = IO(Input(UInt(log2Ceil(params.lookahead + 1).W)))
  val popped = IO(Output(UInt(log2Ceil(lanes + 1).W)))

  /** Bytes brought by fall-back reads and not taken. */
  val arrived = IO(Input(UInt((log2Ceil(params.fallbackBytes) + 1).W)))

  val step = IO(Valid(new Step(params)))

  /** The offsets of history copies in this step. */
  val offsets = IO(Output(Vec(lanes, UInt(params.offsetBits.W))))

  /** Bytes of each origin taken, and the byte of the step in which the first of them goes. */
  val literals = IO(Output(new OriginUse(params)))
  val fallbacks = IO(Output(new OriginUse(params)))

  /** A step waits for a fall-back read. */
  val waiting = IO(Output(Bool()))

  private val done = RegInit(0.U(Segment.lengthBits.W))
  private val runOrigin = RegInit(0.U(params.offsetBits.W))
  private val runOffset = Reg(UInt(runBits.W))

  /** What one lane does; `begin` and `end` are bytes of the step, `whole` says that its segment ends here. */
  private case class Lane(go: Bool, whole: Bool, begin: UInt, end: UInt, take: UInt, starved: Bool)

  private val length = VecInit(head.map(_.length))
  length(0) := head(0).length - done
  offsets := head.map(_.offset)
  private val inRun = head(0).origin === Origin.history && head(0).offset === runOrigin
  when(inRun) { offsets(0) := runOffset }

  private val plan = (0 until lanes).foldLeft(Seq.empty[Lane]) { (before, lane) => before :+ planned(lane, before) }

  private def planned(lane: Int, before: Seq[Lane]): Lane = {
    val origin = head(lane).origin
    val begin = before.lastOption.map(_.end).getOrElse(0.U(params.countBits.W))
    val open = before.lastOption.map(_.whole).getOrElse(enable)
    val near = origin === Origin.history && offsets(lane) < bytes.U
    val bound = Mux(near, offsets(lane)(params.countBits - 1, 0), bytes.U)
    val wish = begin +& length(lane)
    val end = Mux(wish < bound, wish, bound)(params.countBits - 1, 0)
    val possible = open && held > lane.U && bound > begin
    val used = before.zipWithIndex.map { case (b, i) => Mux(b.go && head(i).origin === Origin.fallback, b.take, 0.U) }
    val starved = origin === Origin.fallback && used.fold(end - begin)(_ +& _) > arrived
    val go = possible && !starved
    Lane(go, go && wish <= bound, begin, Mux(go, end, begin), end - begin, possible && starved)
  }

  step.valid := plan.head.go
  step.bits.origins := head.map(_.origin)
  step.bits.ends := plan.map(_.end)
  popped := PopCount(plan.map(_.whole))
  waiting := plan.head.starved

  private def useOf(origin: UInt): OriginUse = {
    val use = Wire(new OriginUse(params))
    val mine = plan.zip(head).map { case (lane, segment) => lane.go && segment.origin === origin }
    use.count := mine.zip(plan).map { case (m, lane) => Mux(m, lane.take, 0.U) }.reduce(_ +& _)
    use.skew := PriorityMux(mine :+ true.B, plan.map(_.begin) :+ 0.U)
    use
  }
  literals := useOf(Origin.literal)
  fallbacks := useOf(Origin.fallback)

  when(step.valid) {
    val first = plan.head
    val alone = !plan.tail.map(_.go).fold(false.B)(_ || _)
    done := Mux(first.whole, plan.tail.map(l => Mux(l.go && !l.whole, l.take, 0.U)).fold(0.U)(_ | _), done + first.take)
    val near = head(0).origin === Origin.history && offsets(0) < bytes.U
    val doubles = first.take === offsets(0)
    runOrigin := Mux(alone && (near || inRun), head(0).offset, 0.U)
    runOffset := Mux(near && doubles, offsets(0) << 1, offsets(0))
  }
  when(clear) {
    done := 0.U
    runOrigin := 0.U
  }
}

/** How a step uses bytes that are taken in order. */
class OriginUse(params: DecoderParams) extends Bundle {
  val count = UInt(params.countBits.W)
  val skew = UInt(params.lineBits.W)
}
