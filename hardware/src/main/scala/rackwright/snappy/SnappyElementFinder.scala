package rackwright.snappy

import chisel3._
import chisel3.util._

import rackwright.lz77.decode.DecoderParams

/** The contents of one or two places of the input, found in one cycle: elements, a single head, or a piece of a long
  * literal. Places count from the first byte of `window`.
  */
class FoundElements(val params: DecoderParams) extends Bundle {

  /** Two beats, byte 0 lowest. */
  val window = UInt((16 * params.bytes).W)

  /** Bytes of `window` that are available. */
  val available = UInt(log2Ceil(2 * params.bytes + 1).W)

  /** The first place, and the byte after its contents. */
  val at = UInt(params.lineBits.W)
  val end = UInt(log2Ceil(2 * params.bytes + 1).W)
  val literal = Bool()

  /** Only the head matters: the finder waits for its meaning. */
  val alone = Bool()

  /** The bytes up to `end` are literals that belong to a head seen before. */
  val inLiteral = Bool()

  /** A whole element is at `end`; the byte after it. */
  val second = Bool()
  val secondEnd = UInt(log2Ceil(2 * params.bytes + 1).W)
}

/** The meaning of a head that is not simple. */
class FoundHead extends Bundle {

  /** The head is completely available. */
  val there = Bool()
  val bytes = UInt(3.W)

  /** Literal bytes that follow. */
  val literalBytes = UInt(33.W)
}

/** Finds the starts of elements, up to two per cycle.
  *
  * The place of an element follows from that of the one before: the only loop in front of the decoder. Its path is
  * short because it selects among places that were prepared for every byte ([[PlacedBeat]]), and excludes cases that
  * are not simple: the head of a long literal, and elements truncated by the end of the input. Those are found
  * separately, and the finder waits for the meaning of the head.
  */
class SnappyElementFinder(params: DecoderParams) extends Module {
  import SnappyElementFinder.State

  private val bytes = params.bytes
  private val atBits = log2Ceil(2 * bytes + 1)

  /** A stream begins, `offset` bytes into its first beat. */
  val start = IO(Flipped(Valid(UInt(params.lineBits.W))))

  /** Abandons the stream. */
  val stop = IO(Input(Bool()))
  val beat = IO(Flipped(Decoupled(new PlacedBeat(params.port))))

  /** Elements may be found in this cycle. */
  val enable = IO(Input(Bool()))
  val found = IO(Valid(new FoundElements(params)))

  /** The meaning of a single head; the preamble is one too. */
  val head = IO(Flipped(Valid(new FoundHead)))

  /** Every byte was processed, or the next ones cannot be read. */
  val ended = IO(Output(Bool()))
  val unreadable = IO(Output(Bool()))

  /** The next byte belongs to a literal whose head was found. */
  val inLiteral = IO(Output(Bool()))

  /** The bytes after the available ones cannot be read. */
  val faultAhead = IO(Output(Bool()))

  /** More input is needed. */
  val starved = IO(Output(Bool()))

  private val state = RegInit(State.idle)
  private val current = Reg(new PlacedBeat(params.port))
  private val next = Reg(new PlacedBeat(params.port))
  private val currentValid = RegInit(false.B)
  private val nextValid = RegInit(false.B)

  /** The next place; a whole beat, if `current` is only to be left. */
  private val at = Reg(UInt((params.lineBits + 1).W))

  /** One bit for each column, that of `at` set: the selection of its place is the start of the longest path. */
  private val atColumn = Reg(UInt(bytes.W))
  private val literalLeft = Reg(UInt(33.W))

  private val ends = currentValid && (current.beat.last || current.beat.fault)
  private val complete = ends || (currentValid && nextValid && (next.beat.last || next.beat.fault))
  private val whole = currentValid && nextValid && !ends && next.beat.end === bytes.U
  private val available = Mux(ends || !nextValid, current.beat.end.pad(atBits), bytes.U +& next.beat.end)
  private val inside = !at(params.lineBits)
  private val column = at(params.lineBits - 1, 0)

  // Two elements: the second is searched for only if no byte is missing.
  private val first = Mux1H(atColumn, current.places)
  private val firstFound = currentValid && inside && first.simple && (whole || first.end <= available)
  private val secondColumn = first.end(params.lineBits - 1, 0)
  private val (secondHere, secondNext) = (current.places(secondColumn), next.places(secondColumn))
  private def follows(second: SnappyPlace): Bool =
    (params.lanes == 2).B && whole && second.simple && !(first.literal && second.literal)
  private val foundHere = !first.leaves && follows(secondHere)
  private val foundNext = first.leaves && !first.end(params.lineBits + 1) && follows(secondNext) && !secondNext.crosses
  private val secondFound = foundHere || foundNext
  private val secondEnd = Mux(first.leaves, bytes.U +& secondNext.end, secondHere.end)(atBits - 1, 0)

  // A head that is not simple: five bytes determine all of it.
  private val ahead = available - column
  private val headThere = inside && column < available && (complete || ahead >= SnappyTag.most.U)
  private val rest = current.beat.end - at
  private val restInLiteral = literalLeft <= rest
  private val literalEnd = Mux(restInLiteral, at + literalLeft(params.lineBits, 0), current.beat.end)

  private val searching = state === State.searching && enable
  private val passing = state === State.literal && enable && currentValid && inside && rest =/= 0.U
  private val takesSimple = searching && firstFound
  private val takesHead = currentValid && headThere &&
    ((searching && !firstFound && !(first.simple && !complete)) || state === State.preamble)

  found.valid := takesSimple || takesHead || passing
  found.bits.window := Cat(next.beat.data, current.beat.data)
  found.bits.available := available
  found.bits.at := column
  found.bits.end := Mux(state === State.literal, literalEnd, first.end)
  found.bits.alone := !takesSimple && state =/= State.literal
  found.bits.inLiteral := state === State.literal
  found.bits.literal := first.literal || state === State.literal
  found.bits.second := takesSimple && secondFound
  found.bits.secondEnd := secondEnd

  // The next place, and, earlier, whether it is beyond the current beat.
  private val passed = Mux(state === State.skipping, at + literalLeft(2, 0), Mux(passing, literalEnd, at))
  private val reached = Mux(takesSimple, Mux(secondFound, secondEnd, first.end), passed.pad(atBits))
  private val simpleLeaves = first.leaves || (foundHere && secondHere.leaves)
  private val leave = currentValid && !ends && Mux(takesSimple, simpleLeaves, passed >= bytes.U)
  at := Mux(leave, reached - bytes.U, reached)
  atColumn := UIntToOH(reached(params.lineBits - 1, 0), bytes)

  when(takesHead) { state := State.waiting }
  when(passing) {
    literalLeft := literalLeft - rest
    when(restInLiteral) { state := State.searching }
  }

  // The bytes of a head are passed over first; then its literal.
  private val headLiteral = Reg(UInt(33.W))
  when(head.valid) {
    literalLeft := head.bits.bytes
    headLiteral := head.bits.literalBytes
    state := Mux(head.bits.there, State.skipping, State.stuck)
  }
  when(state === State.skipping) {
    literalLeft := headLiteral
    state := Mux(headLiteral === 0.U, State.searching, State.literal)
  }

  private val advance = leave || !currentValid
  beat.ready := state =/= State.idle && (!nextValid || advance)
  when(advance) {
    current := next
    currentValid := nextValid
    nextValid := false.B
  }
  when(beat.fire) {
    next := beat.bits
    nextValid := true.B
  }

  private val used = ends && (current.beat.fault || at === current.beat.end)
  private val moving = state === State.searching || state === State.literal || state === State.preamble
  ended := moving && used && current.beat.last
  unreadable := (moving && used && current.beat.fault) || state === State.stuck
  inLiteral := state === State.literal
  faultAhead := (currentValid && current.beat.fault) || (nextValid && next.beat.fault)
  starved := moving && !found.valid && enable && !used

  when(start.valid) {
    state := State.preamble
    at := start.bits
    atColumn := UIntToOH(start.bits, bytes)
    currentValid := false.B
    nextValid := false.B
  }
  when(stop) {
    state := State.idle
    currentValid := false.B
    nextValid := false.B
  }
}

/** The states of a [[SnappyElementFinder]]. */
object SnappyElementFinder {

  /** `waiting` for the meaning of a head, `skipping` over that head; `stuck` before an unreadable head. */
  object State extends ChiselEnum {
    val idle, preamble, searching, waiting, skipping, literal, stuck = Value
  }
}
