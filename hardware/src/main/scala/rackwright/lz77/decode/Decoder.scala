package rackwright.lz77.decode

import chisel3._
import chisel3.util._

import rackwright.access.OutputLine
import rackwright.memory.SramQueue
import rackwright.port.MemoryPort
import rackwright.stream.Lines

/** Expands segments (literals and copies) to bytes, up to one line per cycle. README.md is the contract.
  *
  * Mostly wires. Segments are split into pieces, the properties of each piece are computed, and pieces wait in a queue;
  * a step executes the oldest one or two. Copies from beyond the history are fetched from memory while they wait.
  */
class Decoder(params: DecoderParams) extends Module {
  private val bytes = params.bytes

  /** An operation starts; set while `drained`. */
  val start = IO(Flipped(Valid(new DecoderStart(params))))

  /** Aborts: queued pieces are dropped. Held until `drained`. */
  val abandon = IO(Input(Bool()))

  /** Segments, and their literals some time before them; allowed while `roomy`, and ten cycles longer. */
  val input = IO(Flipped(Valid(new SegmentGroup(params))))
  val literals = IO(Flipped(Valid(new LiteralRun(params))))
  val roomy = IO(Output(Bool()))

  /** If literals arrive long before their segments: more of them are allowed; `roomy` then refers to segments only. */
  val literalsRoomy: Option[Bool] = Option.when(params.literalsAhead)(IO(Output(Bool())))

  /** No more segments follow: the last line leaves when all bytes have been produced. */
  val finish = IO(Input(Bool()))

  /** Lines of the output; the first and the last may be partial. */
  val output = IO(Decoupled(new OutputLine(bytes)))

  /** The fall-back port, and the number of output lines known to be in memory. */
  val memory = IO(new MemoryPort(params.port))
  val acknowledged = IO(Input(UInt(28.W)))

  /** The response to a fall-back read was a fault: there is no further output. */
  val faulted = IO(Output(Bool()))

  /** No piece is queued or in flight, and after `finish` the last line has left. */
  val drained = IO(Output(Bool()))

  /** Bytes produced since the start. */
  val made = IO(Output(UInt(32.W)))
  val events = IO(Output(new DecoderEvents))

  /** Groups that wait to be split; there is room for those in progress when `roomy` goes low. */
  private val waitingGroups = 16
  private val groupsUnderWay = 10

  /** Lines that wait for memory; there is room for those of the steps in progress. */
  private val waitingLines = 12
  private val linesUnderWay = 8

  private val fallback = Module(new DecoderFallback(params))
  private val stopped = abandon || fallback.faulted
  private val clear = start.valid || stopped

  private val groups = withReset(reset.asBool || clear) {
    Module(new Queue(new CuttableGroup(params), waitingGroups))
  }
  private val buffer = Module(new DecoderLiterals(params))
  private val cutter = Module(new DecoderCutter(params))
  private val placer = Module(new DecoderPlacer(params))
  private val rows = Module(new SramQueue(new PieceRow(params), params.lookahead / params.lanes))
  private val issue = Module(new DecoderIssue(params))
  private val maker = Module(new DecoderStep(params))
  private val history = Module(new History(params))
  private val outputs = Module(new Queue(new OutputLine(bytes), waitingLines))

  // Input: split, compute, queue, and request data outside of the history.
  private def groupsRoomy: Bool = RegNext(groups.io.count <= (waitingGroups - groupsUnderWay).U, false.B)
  literalsRoomy.foreach(_ := buffer.roomy)
  roomy := (if (params.literalsAhead) groupsRoomy else groupsRoomy && buffer.roomy)
  groups.io.enq.valid := input.valid && !stopped
  groups.io.enq.bits.segments := input.bits.segments
  groups.io.enq.bits.simple := input.bits.segments
    .map { s =>
      val close = s.offset < bytes.U && s.offset < s.length
      !s.valid || s.literal || (s.length <= bytes.U && !close)
    }
    .reduce(_ && _)
  assert(!input.valid || stopped || groups.io.enq.ready, "a group has no place")

  buffer.clear := start.valid
  buffer.run := literals
  cutter.clear := clear
  cutter.input <> groups.io.deq
  cutter.enable := RegNext(rows.roomy, false.B) && fallback.roomy && !stopped
  placer.start := start
  placer.clear := stopped
  placer.input := cutter.pieces
  rows.clear := clear
  rows.enq.valid := placer.output.head.valid && !stopped
  rows.enq.bits.pieces := placer.output.map(_.bits)
  rows.enq.bits.full := placer.output.last.valid
  assert(!rows.enq.valid || rows.enq.ready, "a row of pieces has no place")
  fallback.push := placer.copies

  // Out: steps.
  issue.clear := clear
  issue.row <> rows.deq
  issue.enable := RegNext(outputs.io.count <= (waitingLines - linesUnderWay).U, false.B) && !stopped
  issue.arrived := fallback.arrived
  maker.step := issue.step
  fallback.taken := issue.step
    .map(lane => Mux(lane.valid && lane.bits.fallback, Mux(lane.bits.crosses, 2.U, 1.U), 0.U))
    .reduce(_ | _)
  history.clear := start.valid
  history.read := maker.historyRead
  maker.historyWindow := history.window
  buffer.read := maker.literalRead
  buffer.taken := maker.literalsTaken
  maker.literalPair := buffer.pair
  fallback.read := maker.fallbackRead
  maker.fallbackPair := fallback.pair
  history.append := maker.append

  // Lines leave when they are complete, the last one when there are no more.
  private val total = RegInit(0.U(32.W))
  private val begin = Reg(UInt(params.lineBits.W))
  private val end = Reg(UInt(params.lineBits.W))
  private val endLine = RegInit(0.U(History.bankBits.W))
  private val flushed = RegInit(false.B)
  when(maker.append.valid) {
    total := total + maker.masks.count
    end := maker.masks.end
    endLine := maker.masks.line + maker.masks.completes
  }
  private val waiting = groups.io.count =/= 0.U || placer.busy || !rows.empty || !issue.empty || input.valid
  private val busy = waiting || maker.busy || history.stored
  private val quiet = RegNext(!busy, false.B) && !busy

  // A cycle late, because it is known late: with `finish`, there is no further input.
  private val flush = finish && RegNext(finish && quiet, false.B) && !flushed
  history.unfinished := endLine
  outputs.io.enq.valid := history.stored || (flush && begin =/= end)
  outputs.io.enq.bits.data := history.line
  outputs.io.enq.bits.mask := ~Lines.mask(begin, bytes) & Mux(
    history.stored,
    Fill(bytes, 1.U(1.W)),
    Lines.mask(end, bytes)
  )
  assert(!outputs.io.enq.valid || outputs.io.enq.ready, "a line has no place")
  output <> outputs.io.deq
  when(history.stored) { begin := 0.U }
  when(flush) { flushed := true.B }
  when(start.valid) {
    total := 0.U
    begin := start.bits.destination
    end := start.bits.destination
    endLine := 0.U
    flushed := false.B
  }

  fallback.clear := start.valid
  fallback.stop := stopped
  fallback.destination := RegEnable(start.bits.destination, start.valid)
  fallback.dictionary.zip(start.bits.dictionary).foreach { case (to, dictionary) =>
    to := RegEnable(dictionary.address, start.valid)
  }
  fallback.acknowledged := acknowledged
  memory <> fallback.memory

  faulted := fallback.faulted
  drained := quiet && (flushed || !finish) && outputs.io.count === 0.U && fallback.quiet
  made := total

  events.fallbacks := PopCount(placer.copies.map(_.valid))
  events.fallbackStall := issue.waiting
  events.outputStall := !issue.empty && outputs.io.count > (waitingLines - linesUnderWay).U
  events.steps := issue.step.head.valid
  events.segments := PopCount(issue.step.map(_.valid))
}

/** The events of a cycle, for the profiling layer. */
class DecoderEvents extends Bundle {

  /** Pieces from beyond the history that were queued. */
  val fallbacks = UInt(2.W)

  /** A step waited for a fall-back read. */
  val fallbackStall = Bool()

  /** A step waited for the output. */
  val outputStall = Bool()

  /** A step was executed, and its pieces. */
  val steps = Bool()
  val segments = UInt(2.W)
}
