package rackwright.snappy

import chisel3._
import chisel3.util._

import rackwright.lz77.decode.{DecoderParams, LiteralRun}

/** One or two elements as read. */
class ReadElements(val params: DecoderParams) extends Bundle {
  val first = new SnappyElement
  val second = Valid(new SnappyElement)

  /** As in [[FoundElements]]. */
  val alone = Bool()
  val inLiteral = Bool()

  /** The head of the first element is completely available. */
  val there = Bool()

  /** Available literal bytes of a piece of a long literal. */
  val piece = UInt(params.countBits.W)
}

/** Reads the elements that were found: their heads, and the bytes of their literals. Two stages. */
class SnappyElementReader(params: DecoderParams) extends Module {
  private val bytes = params.bytes
  private val headBits = 8 * SnappyTag.most

  /** Drops elements in progress. */
  val clear = IO(Input(Bool()))
  val found = IO(Flipped(Valid(new FoundElements(params))))

  /** The bytes of a literal, two cycles after they were found. */
  val literals = IO(Valid(new LiteralRun(params)))

  /** The elements, two cycles after they were found. */
  val elements = IO(Valid(new ReadElements(params)))

  /** With `elements`: the first head as a preamble. */
  val preamble = IO(Output(new SnappyPreamble))

  /** An element is in progress. */
  val busy = IO(Output(Bool()))

  // First stage: the bytes of the heads, and those of the literal.
  private val finding = RegNext(found.valid && !clear, false.B)
  // Stored in every cycle: whether elements were found is known late, and this is used only if they were.
  private val at = RegNext(found.bits)

  private def headAt(place: UInt): UInt = (at.window >> Cat(place, 0.U(3.W)))(headBits - 1, 0)
  private val ofFirst = at.literal || !at.second
  private val literalBegin = Mux(ofFirst, at.at +& !at.inLiteral, at.end +& 1.U)
  private val literalEnd = Mux(ofFirst, at.end, at.secondEnd)
  private val literalCount = (literalEnd - literalBegin)(params.countBits - 1, 0)

  // Byte i of the run is taken at its position modulo a beat.
  private val folded = Cat((0 until bytes).reverse.map { i =>
    val low = !literalBegin(params.lineBits) && literalBegin(params.lineBits - 1, 0) <= i.U
    val (inLow, inHigh) = (at.window(8 * i + 7, 8 * i), at.window(8 * (bytes + i) + 7, 8 * (bytes + i)))
    Mux(low, inLow, inHigh)
  })

  // Second stage: the meaning of the heads.
  private val reading = RegNext(finding && !clear, false.B)
  private val firstHead = RegEnable(headAt(at.at), finding)
  private val secondHead = RegEnable(headAt(at.end), finding)
  private val firstBytes = RegEnable(at.available - at.at, finding)
  private val hasSecond = RegEnable(at.second, finding)
  private val alone = RegEnable(at.alone, finding)
  private val inLiteral = RegEnable(at.inLiteral, finding)
  private val piece = RegEnable(literalCount, finding)
  private val secondLiteral = secondHead(1, 0) === 0.U

  elements.valid := reading
  elements.bits.first := SnappyTag.decode(firstHead)
  elements.bits.second.valid := hasSecond
  elements.bits.second.bits := SnappyTag.decode(secondHead)
  elements.bits.alone := alone
  elements.bits.inLiteral := inLiteral
  elements.bits.there := elements.bits.first.headBytes <= firstBytes
  elements.bits.piece := piece
  preamble := SnappyPreamble.decode(firstHead, firstBytes)
  busy := finding || reading

  private val ofLiteral = RegEnable(at.literal || at.second, finding)
  private val firstLiteral = RegEnable(at.literal, finding)
  literals.valid := reading && !alone && ofLiteral && (firstLiteral || secondLiteral)
  literals.bits.window := RegEnable(folded, finding)
  literals.bits.at := RegEnable(literalBegin(params.lineBits - 1, 0), finding)
  literals.bits.count := piece
}
