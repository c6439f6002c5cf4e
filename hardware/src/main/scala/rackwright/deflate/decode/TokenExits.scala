package rackwright.deflate.decode

import chisel3._
import chisel3.util._

import rackwright.deflate.TokenKind
import rackwright.deflate.TokenFormat._

/** The entry into a chunk: the position of its first code, and the alphabet of that code. */
class TokenEntry extends Bundle {
  val distance = Bool()
  val at = UInt(log2Ceil(distanceReach).W)
}

/** Where codes at one bit lead to, a bit per distance: from a literal/length code, and from a distance code. */
class TokenSteps extends Bundle {
  val literal = UInt((mostBits + 1).W)
  val length = UInt((lengthReach + 1).W)
  val distance = UInt((distanceReach + 1).W)
}

object TokenSteps {

  /** The steps from bit `i` of `chunk`. */
  def apply(chunk: MeasuredChunk, i: Int): TokenSteps = {
    val steps = Wire(new TokenSteps)
    val token = chunk.literals(i)
    val reached = UIntToOH(token.step, lengthReach + 1)
    steps.literal := Mux(token.kind === TokenKind.literal, reached, 0.U)
    steps.length := Mux(token.kind === TokenKind.length, reached, 0.U)
    steps.distance := UIntToOH(chunk.distances(i).step, distanceReach + 1)
    steps
  }
}

/** Computes for every entry into a chunk the entry into the next chunk: a few bits per stage, from the last bit on.
  * After the end of a block or an invalid code, the result is irrelevant.
  */
class TokenExits(bits: Int) extends Module {
  val advance = IO(Input(Bool()))
  val clear = IO(Input(Bool()))
  val input = IO(Flipped(Valid(new MeasuredChunk(bits))))
  val output = IO(Valid(new MeasuredChunk(bits)))

  /** Indexed by the entry into this chunk, encoded as a number. */
  val exits = IO(Output(Vec(1 << new TokenEntry().getWidth, new TokenEntry)))

  private val stages = new TokenStages(advance, clear)
  private def entry(distance: Boolean, at: Int): TokenEntry = {
    val result = Wire(new TokenEntry)
    result.distance := distance.B
    result.at := at.U
    result
  }
  private def bitsOf(stage: Int): Seq[Int] = {
    val from = bits - 1 - stage * TokenExits.step
    from to (from - TokenExits.step + 1).max(0) by -1
  }
  private val count = (bits + TokenExits.step - 1) / TokenExits.step

  /** Exits from the next bits, for either alphabet. */
  private var literals: Seq[TokenEntry] = Seq.tabulate(distanceReach)(entry(false, _))
  private var distances: Seq[TokenEntry] = Seq.tabulate(lengthReach)(entry(true, _))
  private var steps = bitsOf(0).map(i => stages.next(input, TokenSteps(input.bits, i)))
  private var chunk = stages.next(input)
  for (stage <- 0 until count) {
    for (now <- steps) {
      val fromLiteral = (1 to mostBits).map(n => now.literal(n) -> literals(n - 1)) ++
        (1 to lengthReach).map(n => now.length(n) -> distances(n - 1))
      val fromDistance = (1 to distanceReach).map(n => now.distance(n) -> literals(n - 1))
      val (first, second) = (Mux1H(fromLiteral), Mux1H(fromDistance))
      literals = first +: literals.init
      distances = second +: distances.init
    }
    if (stage + 1 < count) steps = bitsOf(stage + 1).map(i => stages.next(chunk, TokenSteps(chunk.bits, i)))
    literals = literals.map(stages.next(chunk, _))
    distances = distances.map(stages.next(chunk, _))
    chunk = stages.next(chunk)
  }
  output := chunk
  for (i <- exits.indices) {
    val at = i % (exits.size / 2)
    val known = if (i < exits.size / 2) literals else distances
    exits(i) := known.lift(at).getOrElse(entry(false, 0))
  }
}

object TokenExits {

  /** Bits per stage. */
  val step: Int = 2
}
