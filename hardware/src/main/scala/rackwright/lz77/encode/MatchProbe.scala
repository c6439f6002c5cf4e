package rackwright.lz77.encode

import chisel3._
import chisel3.util._

import EncoderParams._

/** Determines the lengths of matches, by comparing the group and the following bytes with the history at one distance
  * per cycle.
  *
  * The distance is that of the group four before, if its bytes were equal to the end of the span, which is where this
  * group begins (a long match continues without further lookups); otherwise that of the first open candidate. All open
  * candidates of that distance get their lengths. With keys one probe per group is enough, without keys the open
  * candidates are probed one distance after the other.
  *
  * Five stages: choose, read, align, compare, measure.
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

  /** A probe in progress. */
  private class Probe extends Bundle {
    val candidates = new CandidateGroup
    val number = UInt(2.W)
    val first = Bool()
    val last = Bool()
    val distance = Valid(UInt(distanceBits.W))
  }

  /** For each of the last four groups, the distance at which its bytes were equal to the end of the span. */
  private val going = RegInit(VecInit.fill(4)(0.U.asTypeOf(Valid(UInt(distanceBits.W)))))

  private val choosing = candidates.valid
  private val chosen = choose()
  private val reading = RegNext(choosing, false.B)
  private val readProbe = RegEnable(chosen, choosing)
  read.valid := reading && readProbe.distance.valid
  read.bits := (readProbe.candidates.group.position - backBytes.U - readProbe.distance.bits)(read.bits.getWidth - 1, 0)

  private val aligning = RegNext(reading, false.B)
  private val aligned = RegEnable(readProbe, reading)
  private val comparing = RegNext(aligning, false.B)
  private val compared = RegEnable(aligned, aligning)
  private val there = RegEnable(history, aligning)
  private val equal = VecInit.tabulate(viewBytes)(i =>
    compared.candidates.group.view(8 * i + 7, 8 * i) === there(8 * i + 7, 8 * i)
  )
  private val ahead =
    VecInit((0 until span).map(i => equal(backBytes + i) && compared.candidates.group.remaining > i.U))
  when(comparing && compared.first) {
    going(compared.number).valid := compared.distance.valid && ahead.drop(lanes).reduce(_ && _)
    going(compared.number).bits := compared.distance.bits
  }

  private val measuring = RegNext(comparing, false.B)
  private val measured = RegEnable(compared, comparing)
  private val measuredEqual = RegEnable(equal, comparing)
  private val measuredAhead = RegEnable(ahead, comparing)
  measure()

  /** Stage one. */
  private def choose(): Probe = {
    val lanes = candidates.bits.lanes
    val first = RegInit(true.B)
    val known = Reg(Vec(lanes.size, Bool()))
    val number = RegInit(0.U(2.W))

    // The group four before has been compared by now, despite any waits.
    val chained = first && going(number).valid
    val open = lanes.zip(known).map { case (lane, done) => lane.open && (first || !done) }
    val distance = Mux(chained, going(number).bits, PriorityMux(open, lanes.map(_.distance)))
    val covered = lanes.map(_.distance === distance)
    val done = if (params.keyed) true.B else !open.zip(covered).map { case (o, c) => o && !c }.reduce(_ || _)
    candidates.ready := done

    val probe = Wire(new Probe)
    probe.candidates := candidates.bits
    probe.number := number
    probe.first := first
    probe.last := done
    probe.distance.valid := chained || open.reduce(_ || _)
    probe.distance.bits := distance
    when(choosing) {
      first := done
      for (i <- lanes.indices) known(i) := (!first && known(i)) || covered(i)
      when(done) { number := number + 1.U }
    }
    probe
  }

  /** The last stage. */
  private def measure(): Unit = {
    val group = measured.candidates.group
    val ahead = measuredAhead
    val beyond = PriorityEncoder((lanes until span).map(i => !ahead(i)) :+ true.B) +& lanes.U

    // Equal bytes from each lane on within the group, and whether they reach its end.
    val runs = (0 until lanes).map { lane =>
      PriorityEncoder((lane until lanes).map(i => !ahead(i)) :+ true.B).pad(4)
    }
    val through = (0 until lanes).map(lane => (lane until lanes).map(i => ahead(i)).reduce(_ && _)) :+ true.B

    val result = Wire(new ProbeResult)
    result.valid := measured.distance.valid
    result.distance := measured.distance.bits
    result.from := PriorityEncoder(through)
    result.until := beyond

    val learned = VecInit.tabulate(lanes) { lane =>
      val length = Mux(through(lane), beyond - lane.U, runs(lane))
      learn(lane, length)
    }
    found.valid := measuring && measured.last
    found.bits.literals := group.bytes(0, lanes)
    found.bits.count := Mux(group.remaining > lanes.U, lanes.U, group.remaining(laneBits, 0))
    found.bits.last := group.last
    if (params.keyed) {
      found.bits.lanes := learned
      found.bits.probe := result
    } else accumulate(learned, result)
  }

  /** The state of lane `lane` after this probe, if its distance was probed. */
  private def learn(lane: Int, length: UInt): Candidate = {
    val before = measured.candidates.lanes(lane)
    val after = Wire(new Candidate)
    val hit = before.open && measured.distance.valid && before.distance === measured.distance.bits
    after := before
    when(hit) { after.length := Mux(length >= minMatch.U, length, 0.U) }
    if (!params.keyed) {
      val source = (measured.candidates.group.position | lane.U) - before.distance
      val one = measuredEqual(lane + 1) && source =/= 0.U
      val two = measuredEqual(lane) && source =/= 1.U
      when(hit) { after.back := Mux(one, Mux(two, 2.U, 1.U), 0.U) }
    }
    after
  }

  /** Combines the results of several probes of one group. */
  private def accumulate(learned: Vec[Candidate], result: ProbeResult): Unit = {
    val lanesSoFar = Reg(Vec(lanes, new Candidate))
    val firstResult = Reg(new ProbeResult)
    val lanesNow = VecInit(learned.zip(lanesSoFar).map { case (now, before) =>
      Mux(measured.first || now.length =/= 0.U, now, before)
    })
    val resultNow = Mux(measured.first, result, firstResult)
    when(measuring) {
      lanesSoFar := lanesNow
      firstResult := resultNow
    }
    found.bits.lanes := lanesNow
    found.bits.probe := resultNow
  }
}
