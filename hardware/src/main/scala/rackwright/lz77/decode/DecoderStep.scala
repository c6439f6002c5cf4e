package rackwright.lz77.decode

import chisel3._
import chisel3.util._

import rackwright.stream.Lines

/** The destination of the bytes of a step, one bit per byte of a line: computed while the bytes are read. */
class StepMasks(val params: DecoderParams) extends Bundle {

  /** Bytes of the step, and those of its first piece. */
  val all = UInt(params.bytes.W)
  val first = UInt(params.bytes.W)

  /** Bytes from the first one of the step to the end of the line: they belong to its line, the others to the next. */
  val inLine = UInt(params.bytes.W)
  val line = UInt(History.bankBits.W)
  val completes = Bool()

  /** The byte after the last one, and the number of bytes. */
  val end = UInt(params.lineBits.W)
  val count = UInt(params.countBits.W)
}

object StepMasks {

  /** The masks of a step. */
  def apply(params: DecoderParams, step: Vec[Valid[Piece]]): StepMasks = {
    val bytes = params.bytes
    val masks = Wire(new StepMasks(params))
    val first = step.head.bits
    val begin = first.place.byte
    masks.count := (if (params.lanes == 2) Mux(step.last.valid, step.last.bits.pairedLength, first.length)
                    else first.length)
    def upTo(length: UInt): UInt = {
      val end = begin +& length
      Cat((0 until bytes).reverse.map(i => (begin <= i.U && end > i.U) || end > (bytes + i).U))
    }
    val end = begin +& masks.count
    masks.all := upTo(masks.count)
    masks.first := upTo(first.length)
    masks.inLine := Cat((0 until bytes).reverse.map(i => begin <= i.U))
    masks.line := first.place.line
    masks.completes := end >= bytes.U
    masks.end := end
    masks
  }
}

/** Makes the bytes of steps, one step per cycle: reads the sources, turns them to their places, joins them and appends
  * them to the history. Four cycles.
  */
class DecoderStep(params: DecoderParams) extends Module {
  private val lanes = params.lanes
  private val bytes = params.bytes
  private val lineBits = params.lineBits

  /** The pieces of a step; the first exists if any does. */
  val step = IO(Input(Vec(lanes, Valid(new Piece(params)))))

  /** Reads of the three sources, requested in the first cycle. */
  val historyRead = IO(Output(Vec(lanes, Valid(new HistoryRead(params)))))
  val historyWindow = IO(Input(Vec(lanes, UInt((8 * bytes).W))))
  val literalRead = IO(Valid(UInt(log2Ceil(params.literalBytes).W)))
  val literalPair = IO(Input(UInt((16 * bytes).W)))
  val literalsTaken = IO(Output(UInt(params.countBits.W)))
  val fallbackRead = IO(Valid(UInt(params.slotBits.W)))
  val fallbackPair = IO(Input(UInt((16 * bytes).W)))

  /** The bytes, and their properties. */
  val append = IO(Valid(new HistoryAppend(params)))
  val masks = IO(Output(new StepMasks(params)))

  /** A step is in progress. */
  val busy = IO(Output(Bool()))

  // First cycle: read.
  private val reading = RegNext(VecInit(step.map(_.valid)), VecInit.fill(lanes)(false.B))
  private val read = step.map(lane => RegEnable(lane.bits, step.head.valid))
  for (lane <- 0 until lanes) {
    historyRead(lane).valid := reading(lane) && read(lane).history
    historyRead(lane).bits.source := read(lane).source
    historyRead(lane).bits.crosses := read(lane).crosses
    historyRead(lane).bits.young := read(lane).young
  }
  private val literalLanes = read.zip(reading).map { case (piece, valid) => valid && piece.literal }
  private val fallbackLanes = read.zip(reading).map { case (piece, valid) => valid && piece.fallback }
  literalRead.valid := literalLanes.reduce(_ || _)
  literalRead.bits := Mux1H(literalLanes, read.map(piece => Cat(piece.source.line, piece.source.byte)))
  literalsTaken := Mux1H(literalLanes, read.map(_.length))
  fallbackRead.valid := fallbackLanes.reduce(_ || _)
  fallbackRead.bits := Mux1H(fallbackLanes, read.map(_.source.line))

  // Second cycle: the memories answer, and the places of the bytes are worked out.
  private val answering = RegNext(reading, VecInit.fill(lanes)(false.B))
  private val answered = read.map(piece => RegEnable(piece, reading.head))
  private val literalLines = RegNext(literalPair)
  private val fallbackLines = RegNext(fallbackPair)
  private val stepAnswered = Wire(Vec(lanes, Valid(new Piece(params))))
  for (lane <- 0 until lanes) {
    stepAnswered(lane).valid := answering(lane)
    stepAnswered(lane).bits := answered(lane)
  }
  private val placed = RegEnable(StepMasks(params, stepAnswered), answering.head)
  private val upperLines = answered.map { piece =>
    RegEnable(Cat((0 until bytes).reverse.map(i => piece.source.byte > i.U)), answering.head)
  }
  private val turns = answered.map { piece =>
    RegEnable((piece.place.byte - piece.source.byte)(lineBits - 1, 0), answering.head)
  }

  // Third cycle: select the bytes of each lane, and rotate them by the larger part of the distance.
  private val choosing = RegNext(answering.head, false.B)
  private val fineBits = lineBits / 2
  private val chosen = (0 until lanes).map { lane =>
    val piece = answered(lane)
    val literal = RegEnable(piece.literal, answering.head)
    val fallback = RegEnable(piece.fallback, answering.head)
    val history = RegEnable(piece.history, answering.head)
    def lineOf(pair: UInt): UInt =
      Lines.merge(upperLines(lane), pair(16 * bytes - 1, 8 * bytes), pair(8 * bytes - 1, 0), bytes)
    val source = Mux1H(
      Seq(literal -> lineOf(literalLines), fallback -> lineOf(fallbackLines), history -> historyWindow(lane))
    )
    val coarse = Cat(turns(lane) >> fineBits, 0.U(fineBits.W))
    RegEnable(Lines.rotate(source, coarse, bytes), choosing)
  }
  private val fineTurns = turns.map(turn => RegEnable(turn(fineBits - 1, 0), choosing))
  private val bankMasks = VecInit((0 until History.banks).map { bank =>
    val here = Fill(bytes, placed.line === bank.U)
    val after = Fill(bytes, placed.line + 1.U === bank.U)
    placed.all & ((placed.inLine & here) | (~placed.inLine & after))
  })

  // Fourth cycle: rotate by the rest of the distance, join, append.
  append.valid := RegNext(choosing, false.B)
  masks := RegEnable(placed, choosing)
  private val turned = chosen.zip(fineTurns).map { case (line, turn) => Lines.rotate(line, turn, bytes) }
  append.bits.data := Lines.merge(masks.first, turned.head, turned.last, bytes)
  append.bits.masks := RegEnable(bankMasks, choosing)
  append.bits.completes := masks.completes
  append.bits.line := masks.line
  busy := reading.head || answering.head || choosing || append.valid
}
