package rackwright.deflate.decode

import chisel3._
import chisel3.util._

import rackwright.deflate.TokenKind
import rackwright.deflate.TokenFormat._

/** Marks the starts of codes from the entry of a chunk on, a few bits per stage. The last stage determines where the
  * block ends, or an invalid code is.
  */
class TokenStarts(bits: Int) extends Module {
  val advance = IO(Input(Bool()))
  val clear = IO(Input(Bool()))
  val input = IO(Flipped(Valid(new MeasuredChunk(bits))))

  /** Accompanies `input`: the entry. */
  val entry = IO(Input(new TokenEntry))
  val output = IO(Valid(new MarkedChunk(bits)))

  private val stages = new TokenStages(advance, clear)
  private val count = (bits + TokenStarts.step - 1) / TokenStarts.step
  private def bitsOf(stage: Int): Seq[Int] =
    (stage * TokenStarts.step) until ((stage + 1) * TokenStarts.step).min(bits)

  /** Codes that start at the next bits. */
  private val at = UIntToOH(entry.at, distanceReach)
  private var literalsAhead = stages.next(input, Mux(entry.distance, 0.U, at))
  private var distancesAhead = stages.next(input, Mux(entry.distance, at(lengthReach - 1, 0), 0.U))
  private var literalMarks: Seq[Bool] = Seq.empty
  private var distanceMarks: Seq[Bool] = Seq.empty
  private var steps = bitsOf(0).map(i => stages.next(input, TokenSteps(input.bits, i)))
  private var chunk = stages.next(input)
  for (stage <- 0 until count) {
    for (now <- steps) {
      val (literal, distance) = (literalsAhead(0), distancesAhead(0))
      literalMarks = literalMarks :+ literal
      distanceMarks = distanceMarks :+ distance
      literalsAhead = (literalsAhead >> 1) |
        Mux(literal, now.literal >> 1, 0.U) | Mux(distance, now.distance >> 1, 0.U)
      distancesAhead = (distancesAhead >> 1).pad(lengthReach) | Mux(literal, now.length >> 1, 0.U)
    }
    if (stage + 1 < count) steps = bitsOf(stage + 1).map(i => stages.next(chunk, TokenSteps(chunk.bits, i)))
    literalsAhead = stages.next(chunk, literalsAhead)
    distancesAhead = stages.next(chunk, distancesAhead)
    literalMarks = literalMarks.map(stages.next(chunk, _))
    distanceMarks = distanceMarks.map(stages.next(chunk, _))
    chunk = stages.next(chunk)
  }

  // The codes before the first end.
  private def of(kind: TokenKind.Type): UInt =
    Cat(chunk.bits.literals.zip(literalMarks).map { case (token, mark) => mark && token.kind === kind }.reverse)
  private val ends = of(TokenKind.end)
  private val wrong = of(TokenKind.wrong) |
    Cat(chunk.bits.distances.zip(distanceMarks).map { case (token, mark) => mark && token.wrong }.reverse)
  private val stop = PriorityEncoderOH(ends | wrong)
  private val before = Mux((ends | wrong).orR, stop - 1.U, Fill(bits, 1.U(1.W)))

  private val marked = Wire(Valid(new MarkedChunk(bits)))
  marked.valid := chunk.valid
  marked.bits.measured := chunk.bits
  marked.bits.literals := of(TokenKind.literal) & before
  marked.bits.lengths := of(TokenKind.length) & before
  marked.bits.distances := Cat(distanceMarks.reverse) & before
  marked.bits.stops := (ends | wrong).orR
  marked.bits.wrong := (stop & wrong).orR
  marked.bits.end := Mux1H(stop.asBools, chunk.bits.literals.zipWithIndex.map { case (token, i) => token.step +& i.U })
  output := stages.next(marked)
}

object TokenStarts {

  /** Bits per stage. */
  val step: Int = 4
}
