package rackwright.lz77

import chisel3._
import chisel3.util._

import EncoderParams._

/** Up to eight bytes for the literal buffer. */
class LiteralWrite extends Bundle {
  val data = UInt(64.W)
  val count = UInt(4.W)
}

/** Chooses matches from the left to the right, and turns the input into sequences and literals.
  *
  * One match may start per cycle; a group leaves when no match can start in what is left of it. A chosen match grows
  * while the probes of later groups find its distance equal. A sequence is given out when the next one starts, when its
  * match has grown by 64 bytes that may go ahead, or when its run of literals fills the literal buffer.
  *
  * @param params
  *   sizes of the encoder.
  */
class MatchSelect(params: EncoderParams) extends Module {

  /** Start of an operation; true if its input is empty. */
  val start = IO(Flipped(Valid(Bool())))
  val choices = IO(Flipped(Decoupled(new ChoiceGroup)))
  val sequence = IO(Decoupled(new Sequence(params)))

  /** To the literal buffer, which has room for a whole group if `room`. */
  val literals = IO(Valid(new LiteralWrite))
  val room = IO(Input(Bool()))

  /** The longest match that one element of the reference format holds: what goes ahead of a growing match. */
  private val ahead = 64

  private val covered = Reg(UInt(foundBits.W))
  private val open = Reg(new Sequence(params))
  private val finishing = RegInit(false.B)

  private val group = choices.bits
  private val active = choices.valid && sequence.ready && room && !finishing

  private val extended = open.matchLength =/= 0.U && open.literals === 0.U && group.probe.valid &&
    group.probe.distance === open.distance && group.probe.from <= covered && group.probe.until > covered
  private val from = Mux(extended, group.probe.until, covered)
  private val matchLength = open.matchLength + Mux(extended, group.probe.until - covered, 0.U)

  // The first match to the right of what is covered.
  private val eligible = VecInit.tabulate(lanes) { i =>
    val choice = group.lanes(i)
    val afterMatch = from === i.U && open.literals === 0.U
    from <= i.U && group.count > i.U && choice.take && (choice.gainful || afterMatch)
  }
  private val starts = eligible.asUInt.orR
  private val startLane = PriorityEncoder(eligible)
  private val chosen = group.lanes(startLane)
  private val end = startLane +& chosen.length
  private val again =
    starts && VecInit.tabulate(lanes)(i => end <= i.U && group.count > i.U && group.lanes(i).take).asUInt.orR

  // Literals before the match (or the whole rest) and after it.
  private val until = Mux(starts, startLane, group.count)
  private val before = Mux(until > from, until - from, 0.U)
  private val after = Mux(starts && !again && group.count > end, group.count - end, 0.U)
  private val run = open.literals + before

  private val grown = !starts && matchLength >= (ahead + minMatch).U
  private val full = !starts && run > (params.maxLiteralRun - lanes).U
  private val empty = matchLength === 0.U && run === 0.U

  sequence.valid := finishing || active && (starts && !empty || grown || full)
  sequence.bits.matchLength := Mux(!finishing && grown, ahead.U, matchLength)
  sequence.bits.distance := open.distance
  sequence.bits.literals := run
  sequence.bits.last := finishing
  when(finishing) {
    sequence.bits.matchLength := open.matchLength
    sequence.bits.literals := open.literals
  }

  literals.valid := active
  literals.bits.count := (before + after)(laneBits, 0)
  literals.bits.data := segment(from, before) | (segment(end, after) << Cat(before(laneBits - 1, 0), 0.U(3.W)))(63, 0)

  choices.ready := active && !again
  when(active) {
    advance()
    open.matchLength := Mux(starts, chosen.length, Mux(full, 0.U, matchLength - Mux(grown, ahead.U, 0.U)))
    open.literals := Mux(starts, after, Mux(full, 0.U, run))
    when(starts) { open.distance := chosen.distance }
    finishing := group.last && !again
  }
  when(finishing && sequence.ready) { finishing := false.B }
  when(start.valid) {
    covered := 0.U
    open := 0.U.asTypeOf(open)
    finishing := start.bits
  }

  /** Where the next cycle goes on: in this group, or in the next one. */
  private def advance(): Unit = {
    val reached = Mux(starts, end, from)
    covered := Mux(again, end, Mux(reached > lanes.U, reached - lanes.U, 0.U))(foundBits - 1, 0)
  }

  /** `count` bytes of the group from lane `lane` on, the others zero. */
  private def segment(lane: UInt, count: UInt): UInt = {
    val mask = VecInit.tabulate(lanes)(i => Fill(8, count > i.U)).asUInt
    (group.literals >> Cat(lane(laneBits - 1, 0), 0.U(3.W)))(63, 0) & mask
  }
}
