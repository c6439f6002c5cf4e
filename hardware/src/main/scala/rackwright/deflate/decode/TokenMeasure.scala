package rackwright.deflate.decode

import chisel3._
import chisel3.util._

import rackwright.deflate.TokenKind
import rackwright.deflate.TokenFormat._
import rackwright.entropy.huffman.CanonicalCode

/** Determines the candidate codes at each bit of a chunk, one of each alphabet, with a [[TokenBit]] for each bit. Four
  * stages.
  */
class TokenMeasure(bits: Int) extends Module {
  val advance = IO(Input(Bool()))
  val clear = IO(Input(Bool()))
  val codes = IO(Input(new TokenCodes))
  val input = IO(Flipped(Valid(new TokenChunk(bits))))
  val output = IO(Valid(new MeasuredChunk(bits)))

  private val stages = new TokenStages(advance, clear)
  private val coded = stages.next(input)
  private val placed = stages.next(coded)
  private val found = stages.next(placed)
  private val valid = Seq(input, coded, placed, found).map(_.valid && advance)
  private val measured = stages.next(found)
  output.valid := measured.valid
  output.bits.window := measured.bits.window
  for (i <- 0 until bits) {
    val bit = Module(new TokenBit)
    bit.enable := VecInit(valid)
    bit.codes := codes
    bit.value := input.bits.code(i)
    bit.inside := Mux(found.bits.available > i.U, found.bits.available - i.U, 0.U)
    output.bits.literals(i) := bit.literal
    output.bits.distances(i) := bit.distance
  }
}

/** Determines the candidate codes at one bit in four stages: lengths of the codes, indices of their symbols, symbols,
  * and whether the code ends within the input.
  */
class TokenBit extends Module {

  /** Enables the registers of each stage. */
  val enable = IO(Input(Vec(4, Bool())))
  val codes = IO(Input(new TokenCodes))

  /** The longest code that may start here, with its first bit highest. */
  val value = IO(Input(UInt(mostBits.W)))

  /** Valid in the last stage: number of input bits from here on, saturated at the longest code. */
  val inside = IO(Input(UInt(log2Ceil(DeflateDecompressorParams.mostSpeculation + distanceReach).W)))
  val literal = IO(Output(new LiteralToken))
  val distance = IO(Output(new DistanceToken))

  private val valueCoded = RegEnable(value, enable(0))

  /** Length of the code, and the index of its symbol. */
  private def find(code: CanonicalCode): (UInt, UInt) = {
    val length = RegEnable(code.lengthOf(value), enable(0))
    val number = Mux1H(length.asBools, (1 to mostBits).map(_.U(log2Ceil(mostBits + 1).W)))
    (RegEnable(number, enable(1)), RegEnable(code.placeOf(valueCoded, length), enable(1)))
  }
  private val (literalBits, literalPlace) = find(codes.literal)
  private val (distanceBits, distancePlace) = find(codes.distance)
  private val literalEntry = RegEnable(codes.literals(literalPlace), enable(2))
  private val distanceEntry = RegEnable(codes.distances(distancePlace), enable(2))
  private val literalLong = RegEnable(literalBits, enable(2))
  private val distanceLong = RegEnable(distanceBits, enable(2))

  private val measuredLiteral = Wire(new LiteralToken)
  measuredLiteral.step := literalLong +& literalEntry.extra
  measuredLiteral.value := literalEntry.value
  measuredLiteral.kind :=
    Mux(literalLong =/= 0.U && measuredLiteral.step <= inside, literalEntry.kind, TokenKind.wrong)
  literal := RegEnable(measuredLiteral, enable(3))
  private val measuredDistance = Wire(new DistanceToken)
  measuredDistance.step := distanceLong +& distanceEntry.extra
  measuredDistance.value := distanceEntry.value
  measuredDistance.wrong := distanceLong === 0.U || distanceEntry.wrong || measuredDistance.step > inside
  distance := RegEnable(measuredDistance, enable(3))
}
