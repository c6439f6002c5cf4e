package rackwright.lz77

import chisel3._
import chisel3.util._

import EncoderParams._

/** Finds how far matches reach, by comparing the group and what follows it with the history at one distance per cycle.
  *
  * Which distance: that of the group before the previous one, if its bytes were equal to the end of the span (a long
  * match goes on without ever being looked up again); otherwise that of the first open candidate. All open candidates
  * of that distance learn their length. With keys one probe per group is enough, without keys the open candidates are
  * probed one distance after the other.
  *
  * Two stages: choose and read, compare.
  *
  * @param params
  *   sizes of the encoder.
  */
class MatchProbe(params: EncoderParams) extends Module {
  val candidates = IO(Flipped(Decoupled(new CandidateGroup)))

  /** To [[EncoderHistory]]. */
  val read = IO(Valid(UInt(log2Ceil(params.historyBytes).W)))
  val history = IO(Input(UInt((8 * viewBytes).W)))

  /** Has to be taken. */
  val found = IO(Valid(new FoundGroup))

  private val comparing = RegInit(false.B)
  private val compared = Reg(new CandidateGroup)
  private val comparedFirst = Reg(Bool())
  private val comparedLast = Reg(Bool())
  private val comparedDistance = Reg(Valid(UInt(distanceBits.W)))

  // Distances that reached the end of the span, of the latest group and of the one before it.
  private val latest = RegInit(0.U.asTypeOf(Valid(UInt(distanceBits.W))))
  private val earlier = RegInit(0.U.asTypeOf(Valid(UInt(distanceBits.W))))

  chooseAndRead()
  compare()

  /** Stage one. */
  private def chooseAndRead(): Unit = {
    val group = candidates.bits.group
    val lanes = candidates.bits.lanes
    val first = RegInit(true.B)
    val known = Reg(Vec(lanes.size, Bool()))

    // `latest` is the group before the previous one as long as that one is being compared.
    val going = Mux(comparing && comparedFirst, latest, earlier)
    val chained = first && going.valid
    val open = lanes.zip(known).map { case (lane, done) => lane.open && (first || !done) }
    val distance = Mux(chained, going.bits, PriorityMux(open, lanes.map(_.distance)))
    val covered = lanes.map(_.distance === distance)
    val done = if (params.keyed) true.B else !open.zip(covered).map { case (o, c) => o && !c }.reduce(_ || _)
    val step = candidates.valid

    read.valid := step && (chained || open.reduce(_ || _))
    read.bits := (group.position - backBytes.U - distance)(read.bits.getWidth - 1, 0)
    candidates.ready := step && done

    comparing := step
    when(step) {
      first := done
      for (i <- lanes.indices) known(i) := (!first && known(i)) || covered(i)
      compared := candidates.bits
      comparedFirst := first
      comparedLast := done
      comparedDistance.valid := read.valid
      comparedDistance.bits := distance
    }
  }

  /** Stage two. */
  private def compare(): Unit = {
    val group = compared.group
    val equal = VecInit.tabulate(viewBytes)(i => group.view(8 * i + 7, 8 * i) === history(8 * i + 7, 8 * i))
    val ahead = (0 until span).map(i => equal(backBytes + i) && group.remaining > i.U)
    val beyond = PriorityEncoder((lanes until span).map(i => !ahead(i)) :+ true.B) +& lanes.U

    // Equal bytes from each lane on within the group, and whether they reach its end.
    val runs = (0 until lanes).scanRight(0.U(4.W))((i, next) => Mux(ahead(i), next + 1.U, 0.U))
    val through = (0 until lanes).scanRight(true.B)((i, next) => ahead(i) && next)

    val result = Wire(new ProbeResult)
    result.valid := comparedDistance.valid
    result.distance := comparedDistance.bits
    result.from := PriorityEncoder(through)
    result.until := beyond

    when(comparing && comparedFirst) {
      earlier := latest
      latest.valid := result.valid && beyond === span.U
      latest.bits := result.distance
    }

    val learned = VecInit.tabulate(lanes) { lane =>
      val length = Mux(through(lane), beyond - lane.U, runs(lane))
      learn(lane, length, equal)
    }
    found.valid := comparing && comparedLast
    found.bits.literals := group.bytes(0, lanes)
    found.bits.count := Mux(group.remaining > lanes.U, lanes.U, group.remaining(laneBits, 0))
    found.bits.last := group.last
    if (params.keyed) {
      found.bits.lanes := learned
      found.bits.probe := result
    } else accumulate(learned, result)
  }

  /** What lane `lane` knows after this probe, if its distance was probed. */
  private def learn(lane: Int, length: UInt, equal: Vec[Bool]): Candidate = {
    val before = compared.lanes(lane)
    val after = Wire(new Candidate)
    val hit = before.open && comparedDistance.valid && before.distance === comparedDistance.bits
    after := before
    when(hit) { after.length := Mux(length >= minMatch.U, length, 0.U) }
    if (!params.keyed) {
      val source = (compared.group.position | lane.U) - before.distance
      val one = equal(lane + 1) && source =/= 0.U
      val two = equal(lane) && source =/= 1.U
      when(hit) { after.back := Mux(one, Mux(two, 2.U, 1.U), 0.U) }
    }
    after
  }

  /** Collects what several probes of one group have learned. */
  private def accumulate(learned: Vec[Candidate], result: ProbeResult): Unit = {
    val lanesSoFar = Reg(Vec(lanes, new Candidate))
    val firstResult = Reg(new ProbeResult)
    val lanesNow = VecInit(learned.zip(lanesSoFar).map { case (now, before) =>
      Mux(comparedFirst || now.length =/= 0.U, now, before)
    })
    val resultNow = Mux(comparedFirst, result, firstResult)
    when(comparing) {
      lanesSoFar := lanesNow
      firstResult := resultNow
    }
    found.bits.lanes := lanesNow
    found.bits.probe := resultNow
  }
}
