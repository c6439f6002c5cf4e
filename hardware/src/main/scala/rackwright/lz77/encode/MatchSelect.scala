package rackwright.lz77.encode

import chisel3._
import chisel3.util._

import EncoderParams._

/** Up to eight bytes for the literal buffer. */
class LiteralWrite extends Bundle {
  val data = UInt(64.W)
  val count = UInt(4.W)
}

/** The decision of one cycle. Positions count from the group's first one on. */
class MatchDecision extends Bundle {
  val literals = UInt((8 * EncoderParams.lanes).W)
  val count = UInt(4.W)

  /** The start of the cycle's positions. */
  val covered = UInt(foundBits.W)

  /** The open match went on until there. */
  val extended = Bool()
  val until = UInt(foundBits.W)

  /** A match starts there. */
  val starts = Bool()
  val startLane = UInt(laneBits.W)
  val entry = new MatchEntry

  /** Nothing follows. */
  val last = Bool()
}

/** Chooses matches from the left to the right, and turns the input into sequences and literals.
  *
  * One match may start per cycle; a group leaves when no match can start in what is left of it. A chosen match grows
  * while the probes of later groups find its distance equal. A sequence is output when the next one starts, when its
  * match has grown by `ahead` bytes that may be output early, or when its run of literals fills the literal buffer.
  *
  * The only loop of the encoder is here, where the end of a match determines where the next may start: it is a lookup
  * in [[MatchTable]]. Lengths are added in the following stages, which do not stall.
  *
  * @param params
  *   sizes of the encoder.
  */
class MatchSelect(params: EncoderParams) extends Module {

  /** Start of an operation; true if its input is empty. */
  val start = IO(Flipped(Valid(Bool())))
  val choices = IO(Flipped(Decoupled(new ChoiceGroup)))

  /** Has to be taken; comes with the last literals of its run. */
  val sequence = IO(Valid(new Sequence(params)))

  /** To the literal buffer; has to be taken. */
  val literals = IO(Valid(new LiteralWrite))

  /** There is room for all items in progress: two sequences and groups more than there are stages. */
  val room = IO(Input(Bool()))

  /** A group waits for room. */
  val waiting = IO(Output(Bool()))

  /** The longest match in one element of the reference format: the part of a growing match that is output early. */
  private val ahead = 64

  // First stage: the table.
  private val prepared = RegInit(false.B)
  private val table = Reg(new MatchTable)
  private val active = prepared && room
  private val decision = decide()
  private val again = decision.starts && decision.entry.again
  private val leaves = active && !again
  choices.ready := !prepared || leaves
  when(choices.ready) {
    prepared := choices.valid
    table := MatchTable(choices.bits)
  }
  waiting := prepared && !room

  /** Second stage, the loop. */
  private def decide(): MatchDecision = {
    val covered = Reg(UInt(foundBits.W))
    val distance = Reg(UInt(distanceBits.W))
    val hasMatch = Reg(Bool())
    val noLiterals = Reg(Bool())
    val probe = table.probe

    // A probe extends at least to the end of the group, so that no match starts in a group covered by an extended
    // match.
    val extended = hasMatch && noLiterals && probe.valid && probe.distance === distance &&
      probe.from <= covered && probe.until > covered
    val inGroup = covered < lanes.U
    val here = table.entries(covered(laneBits - 1, 0))
    val follows = here.take && noLiterals
    val startLane = Mux(follows, covered(laneBits - 1, 0), here.next.bits)
    val entry = table.entries(startLane)
    val starts = inGroup && (follows || here.next.valid) && !extended

    val reached = Mux(extended, probe.until, covered)
    when(active) {
      val ends = Mux(starts, entry.end, reached)
      val beyond = Mux(ends > lanes.U, ends - lanes.U, 0.U)
      covered := Mux(starts && entry.again, entry.end, beyond)
      hasMatch := hasMatch || starts
      noLiterals := Mux(starts, entry.again || entry.toEnd, noLiterals && table.count <= reached)
      when(starts) { distance := entry.distance }
    }
    when(start.valid) {
      covered := 0.U
      hasMatch := false.B
      noLiterals := true.B
    }

    val result = Wire(new MatchDecision)
    result.literals := table.literals
    result.count := table.count
    result.covered := covered
    result.extended := extended
    result.until := probe.until
    result.starts := starts
    result.startLane := startLane
    result.entry := entry
    result.last := table.last
    result
  }

  // Third stage: the growth of the match, and the literals before the new match (or to the end) and after it.
  private val decided = RegNext(active, false.B)
  private val made = RegEnable(decision, active)
  private val isLast = RegEnable(decision.last && !again, active)
  private val from = Mux(made.extended, made.until, made.covered)
  private val stop = Mux(made.starts, made.startLane, made.count)
  private val before = Mux(stop > from, stop - from, 0.U)
  private val hasAfter = made.starts && !made.entry.again && !made.entry.toEnd
  private val after = Mux(hasAfter, made.count - made.entry.end, 0.U)(laneBits, 0)

  // Fourth stage: the open sequence.
  private val counting = RegNext(decided, false.B)
  private val counted = RegEnable(made, decided)
  private val countedLast = RegEnable(isLast, decided)
  private val grows = RegEnable(Mux(made.extended, made.until - made.covered, 0.U), decided)
  private val countBefore = RegEnable(before(laneBits, 0), decided)
  private val countAfter = RegEnable(after, decided)
  private val open = Reg(new Sequence(params))
  private val finishing = RegInit(false.B)
  private val matchLength = open.matchLength + grows
  private val run = open.literals + countBefore
  private val grown = !counted.starts && matchLength >= (ahead + minMatch).U
  private val full = !counted.starts && run > (params.maxLiteralRun - lanes).U
  private val empty = matchLength === 0.U && run === 0.U
  private val closed = Wire(new Sequence(params))
  closed.matchLength := Mux(finishing, open.matchLength, Mux(grown, ahead.U, matchLength))
  closed.distance := open.distance
  closed.literals := Mux(finishing, open.literals, run)
  closed.last := finishing
  when(counting) {
    open.matchLength := Mux(
      counted.starts,
      counted.entry.length,
      Mux(full, 0.U, matchLength - Mux(grown, ahead.U, 0.U))
    )
    open.literals := Mux(counted.starts, countAfter, Mux(full, 0.U, run))
    when(counted.starts) { open.distance := counted.entry.distance }
  }
  finishing := counting && countedLast
  when(start.valid) {
    open := 0.U.asTypeOf(open)
    finishing := start.bits
  }

  /** `count` bytes of the group from lane `lane` on, the others zero. */
  private def segment(lane: UInt, count: UInt): UInt = {
    val mask = VecInit.tabulate(lanes)(i => Fill(8, count > i.U)).asUInt
    (counted.literals >> Cat(lane(laneBits - 1, 0), 0.U(3.W)))(63, 0) & mask
  }

  // Fifth stage: literals side by side.
  private val joining = RegNext(counting, false.B)
  private val first = RegEnable(segment(RegEnable(from, decided), countBefore), counting)
  private val second = RegEnable(segment(counted.entry.end, countAfter), counting)
  private val firstCount = RegEnable(countBefore, counting)
  private val secondCount = RegEnable(countAfter, counting)
  literals.valid := RegNext(joining, false.B)
  literals.bits.data := RegNext(first | (second << Cat(firstCount(laneBits - 1, 0), 0.U(3.W)))(63, 0))
  literals.bits.count := RegNext(firstCount + secondCount)

  private val gives = finishing || counting && (counted.starts && !empty || grown || full)
  sequence.valid := RegNext(RegNext(gives, false.B), false.B)
  sequence.bits := RegNext(RegNext(closed))
}
