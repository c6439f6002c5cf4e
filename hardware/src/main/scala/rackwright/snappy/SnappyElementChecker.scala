package rackwright.snappy

import chisel3._
import chisel3.util._

import rackwright.lz77.decode.{DecoderParams, Segment, SegmentGroup}

/** Checks every rule of the format and passes on valid elements. Three stages: sums, counters, verdict.
  *
  * The counters run ahead of the check: they are invalid after the first wrong element, after which there is no output.
  * A long literal is checked with its head, so that no byte of a wrong element is output.
  */
class SnappyElementChecker(params: DecoderParams) extends Module {

  /** A body starts: `declared` bytes of output result from `inputLeft` bytes of input. */
  val start = IO(Input(Bool()))
  val declared = IO(Input(UInt(32.W)))
  val inputLeft = IO(Input(UInt(64.W)))
  val elements = IO(Flipped(Valid(new ReadElements(params))))
  val output = IO(Valid(new SegmentGroup(params)))

  /** An element was wrong; there is no output from it on. */
  val wrong = IO(Output(Bool()))

  /** The output is as long as declared. */
  val complete = IO(Output(Bool()))

  /** Bytes of input from the wrong element on, from the latest element on, and after it. */
  val wrongLeft = IO(Output(UInt(64.W)))
  val latestLeft = IO(Output(UInt(64.W)))
  val left = IO(Output(UInt(64.W)))

  /** An element is in progress. */
  val busy = IO(Output(Bool()))

  private val stopped = RegInit(false.B)
  private val wrongLeftHeld = Reg(UInt(64.W))
  private val latestHeld = Reg(UInt(64.W))

  /** The inputs of the counters in a cycle: input used and output produced by the first element and by both. */
  private class Sums extends Bundle {
    val used = Vec(2, UInt(35.W))
    val made = Vec(2, UInt(34.W))
  }

  // First stage.
  private val summing = RegNext(elements.valid && !start, false.B)
  private val read = RegEnable(elements.bits, elements.valid)
  private val sums = Wire(new Sums)
  private val cut = read.alone && !read.there

  private def usedBy(element: SnappyElement): UInt = element.headBytes +& Mux(element.literal, element.length, 0.U)
  sums.used(0) := Mux(read.inLiteral, 0.U, Mux(cut, read.first.headBytes, usedBy(read.first)))
  sums.made(0) := Mux(read.inLiteral || cut, 0.U, read.first.length)
  // The second element is a short one.
  private val second = read.second.bits
  private val secondUsed = (second.headBytes +& Mux(second.literal, second.length(6, 0), 0.U))(6, 0)
  sums.used(1) := sums.used(0)(7, 0) + secondUsed
  sums.made(1) := sums.made(0)(7, 0) + second.length(6, 0)

  // Second stage.
  private val counting = RegNext(summing && !start, false.B)
  private val counted = RegEnable(read, summing)
  private val countedCut = RegEnable(cut, summing)
  private val countedSums = RegEnable(sums, summing)
  private val inputBytes = Reg(UInt(64.W))
  private val outputBytes = Reg(UInt(32.W))
  private val produced = Reg(UInt(32.W))
  private val inputAfter = VecInit(countedSums.used.map(inputBytes -& _))
  private val outputAfter = VecInit(countedSums.made.map(outputBytes.pad(34) -& _))
  private val producedAfter = VecInit(countedSums.made.map(made => (produced + made)(31, 0)))
  private val both = counted.second.valid
  when(counting && !countedCut) {
    inputBytes := Mux(both, inputAfter(1), inputAfter(0))(63, 0)
    outputBytes := Mux(both, outputAfter(1), outputAfter(0))(31, 0)
    produced := Mux(both, producedAfter(1), producedAfter(0))
  }
  when(start) {
    inputBytes := inputLeft
    outputBytes := declared
    produced := 0.U
  }

  // Third stage.
  private val judging = RegNext(counting && !start, false.B)
  private val judged = RegEnable(counted, counting)
  private val judgedCut = RegEnable(countedCut, counting)
  private val tooMuch = RegEnable(VecInit((0 until 2).map(i => inputAfter(i)(64) || outputAfter(i)(34))), counting)
  private val before = RegEnable(produced, counting)
  private val between = RegEnable(producedAfter(0), counting)
  private val leftBefore = RegEnable(inputBytes, counting)
  private val leftBetween = RegEnable(inputAfter(0)(63, 0), counting)

  private def wrongCopy(element: SnappyElement, made: UInt): Bool =
    !element.literal && (element.offset === 0.U || element.offset > made)
  private val firstWrong = !judged.inLiteral && (tooMuch(0) || (!judgedCut && wrongCopy(judged.first, before)))
  private val secondWrong = tooMuch(1) || wrongCopy(judged.second.bits, between)
  private val firstRight = judging && !stopped && !firstWrong
  private val segments = Wire(new SegmentGroup(params))
  segments.segments(0) := segmentOf(judged.first, firstRight && !judged.alone)
  when(judged.inLiteral) {
    segments.segments(0).literal := true.B
    segments.segments(0).length := judged.piece
  }
  if (params.lanes == 2)
    segments.segments(1) := segmentOf(judged.second.bits, firstRight && judged.second.valid && !secondWrong)

  private def segmentOf(element: SnappyElement, valid: Bool): Segment = {
    val segment = Wire(new Segment)
    segment.valid := valid
    segment.literal := element.literal
    segment.length := element.length(Segment.lengthBits - 1, 0)
    segment.offset := element.offset
    segment
  }

  when(judging && !stopped) {
    stopped := firstWrong || (judged.second.valid && secondWrong)
    wrongLeftHeld := Mux(firstWrong, leftBefore, leftBetween)
    when(!judged.inLiteral) { latestHeld := Mux(judged.second.valid, leftBetween, leftBefore) }
  }
  when(start) { stopped := false.B }
  output.valid := RegNext(segments.segments.head.valid && !start, false.B)
  output.bits := RegNext(segments)
  wrong := stopped
  complete := RegNext(outputBytes === 0.U)
  wrongLeft := wrongLeftHeld
  latestLeft := latestHeld
  left := inputBytes
  // One cycle more, until `complete` is known.
  busy := summing || counting || judging || output.valid
}
