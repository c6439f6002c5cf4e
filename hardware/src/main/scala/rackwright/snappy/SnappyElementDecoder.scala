package rackwright.snappy

import chisel3._
import chisel3.util._

import rackwright.lz77.{DecoderParams, Segment, SegmentGroup}
import rackwright.memory.ByteStream

/** Takes a Snappy stream apart, one or two elements per cycle, and checks every rule of the format.
  *
  * The first element of a cycle is what is left of a literal, or begins at the first byte offered. The second begins
  * where the first ends, if its head is among the bytes offered. Only the first can be found wrong: a wrong second one
  * becomes the first of the next cycle. Every check is made on the head, so that no byte of a wrong element comes out.
  */
class SnappyElementDecoder(params: DecoderParams) extends Module {
  private val bytes = params.bytes

  /** The body of a stream begins in the next cycle: `declared` bytes of output come from `left` bytes of input. */
  val start = IO(Input(Bool()))
  val declared = IO(Input(UInt(32.W)))
  val inputLeft = IO(Input(UInt(64.W)))

  /** Elements are taken in this cycle, if there are any. */
  val enable = IO(Input(Bool()))
  val stream = IO(Flipped(new ByteStream(bytes)))
  val output = IO(Decoupled(new SegmentGroup(params)))

  /** The whole input was taken and made as many bytes as declared. */
  val finished = IO(Output(Bool()))

  /** The element at the first byte offered, or the end there, is wrong. */
  val malformed = IO(Output(Bool()))

  /** The head or the bytes of an element can't be read. */
  val unreadable = IO(Output(Bool()))

  /** The input does not come fast enough. */
  val starved = IO(Output(Bool()))

  /** Bytes of input from the head of the element on that the first byte offered belongs to. */
  val elementLeft = IO(Output(UInt(64.W)))

  private val left = Reg(UInt(64.W))
  private val room = Reg(UInt(32.W))
  private val produced = Reg(UInt(32.W))
  private val literalLeft = RegInit(0.U(33.W))
  private val elementStart = Reg(UInt(64.W))

  private val window = stream.data.asUInt
  private val available = stream.available
  private val inLiteral = literalLeft =/= 0.U

  // First element.
  private val head = SnappyTag.decode(window(8 * SnappyTag.most - 1, 0))
  private val headThere = available =/= 0.U && head.headBytes <= available
  private val firstLiteral = inLiteral || head.literal
  private val firstHead = Mux(inLiteral, 0.U, head.headBytes)
  private val firstLeft = Mux(inLiteral, literalLeft, head.length)
  private val firstBytesThere = available - firstHead
  private val firstLength = Mux(firstLiteral, firstLeft.min(firstBytesThere), head.length)(Segment.lengthBits - 1, 0)
  private val firstWhole = !firstLiteral || firstLeft <= firstBytesThere
  private val firstUsed = firstHead +& Mux(firstLiteral, firstLength, 0.U)

  private val ended = left === 0.U && !inLiteral
  private val headCut = available =/= 0.U && head.headBytes > left
  private val wrong = !inLiteral && (headCut || (headThere && breaksRules(head, left, room, produced)))
  private val literalThere = Mux(inLiteral, available =/= 0.U, headThere && available > head.headBytes)
  private val firstReady = Mux(firstLiteral, literalThere, headThere)
  private val first = firstReady && !wrong && !ended

  /** Whether an element, whose head is there, is one that the format forbids at this place. */
  private def breaksRules(element: SnappyElement, inputLeft: UInt, outputLeft: UInt, before: UInt): Bool = {
    val needs = element.headBytes +& Mux(element.literal, element.length, 0.U)
    val copyWrong = element.offset === 0.U || element.offset > before
    needs > inputLeft || element.length > outputLeft || (!element.literal && copyWrong)
  }

  output.bits.window := window
  output.bits.literalAt := firstHead
  output.bits.segments(0).valid := first
  output.bits.segments(0).literal := firstLiteral
  output.bits.segments(0).length := firstLength
  output.bits.segments(0).offset := head.offset

  /** The second element, if it is `taken`: bytes of input used and of output made, and of its literal not made yet. */
  private case class Second(taken: Bool, used: UInt, length: UInt, literalLeft: UInt)

  private val second = if (params.lanes == 2) decodeSecond() else Second(false.B, 0.U, 0.U, 0.U)

  private def decodeSecond(): Second = {
    val rest = (window >> Cat(firstUsed, 0.U(3.W)))(8 * SnappyTag.most - 1, 0)
    val element = SnappyTag.decode(rest)
    val there = available - firstUsed
    val bytesThere = there - element.headBytes
    val wholeHead = there >= element.headBytes +& element.literal
    val secondWrong = breaksRules(element, left - firstUsed, room - firstLength, produced + firstLength)
    val oneLiteral = !firstLiteral || !element.literal
    val taken = first && firstWhole && firstUsed < available && wholeHead && !secondWrong && oneLiteral
    val length = Mux(element.literal, element.length.min(bytesThere), element.length)(Segment.lengthBits - 1, 0)

    output.bits.segments(1).valid := taken
    output.bits.segments(1).literal := element.literal
    output.bits.segments(1).length := length
    output.bits.segments(1).offset := element.offset
    when(!firstLiteral) { output.bits.literalAt := firstUsed + element.headBytes }
    val used = element.headBytes +& Mux(element.literal, length, 0.U)
    Second(taken, used, length, Mux(element.literal, element.length - length, 0.U))
  }

  output.valid := enable && first
  private val used = firstUsed + Mux(second.taken, second.used, 0.U)
  private val made = firstLength +& Mux(second.taken, second.length, 0.U)
  stream.consume := Mux(output.fire, used, 0.U)

  when(output.fire) {
    left := left - used
    room := room - made
    produced := produced + made
    literalLeft := Mux(second.taken, second.literalLeft, Mux(firstLiteral, firstLeft - firstLength, 0.U))
    elementStart := Mux(second.taken, left - firstUsed, Mux(inLiteral, elementStart, left))
  }
  when(start) {
    left := inputLeft
    room := declared
    produced := 0.U
    literalLeft := 0.U
  }

  finished := enable && ended && room === 0.U
  malformed := enable && (wrong || (ended && room =/= 0.U))
  unreadable := enable && !ended && !wrong && !first && stream.fault
  starved := enable && !ended && !wrong && !first && !stream.fault
  elementLeft := Mux(inLiteral, elementStart, left)
}
