package rackwright.lz77

import chisel3._
import chisel3.util._

import rackwright.memory.MemoryPort

/** Turns segments (literals and copies) into the bytes they stand for, up to one line per cycle. README.md is the
  * contract.
  *
  * Segments wait in a queue. The planner makes steps of them, at most one per cycle; in the next cycle the bytes of a
  * step come out of the history, the literals or the fall-back buffer, are appended to the history and leave. Copies
  * from beyond the history are fetched from memory while they wait.
  */
class Decoder(params: DecoderParams) extends Module {
  private val bytes = params.bytes

  /** An operation begins; given when `drained`. */
  val start = IO(Flipped(Valid(new DecoderStart(params))))

  /** Give up: what is queued is forgotten. Held until `drained`. */
  val abandon = IO(Input(Bool()))

  val input = IO(Flipped(Decoupled(new SegmentGroup(params))))
  val output = IO(Decoupled(new OutputChunk(params)))

  /** The fall-back port, and how many bytes of the output are known to be in memory. */
  val memory = IO(new MemoryPort(params.port))
  val acknowledged = IO(Input(UInt(33.W)))

  /** A fall-back read was answered with a fault: nothing more comes out. */
  val faulted = IO(Output(Bool()))

  /** Nothing is queued or in flight. */
  val drained = IO(Output(Bool()))
  val events = IO(Output(new DecoderEvents))

  private val segments = Module(new DecoderQueue(new QueuedSegment(params), params.lookahead, params.lanes))
  private val literals = Module(new DecoderLiterals(params))
  private val fallback = Module(new HistoryFallback(params))
  private val planner = Module(new DecoderPlanner(params))
  private val history = Module(new History(params))
  private val outputs = Module(new Queue(new OutputChunk(params), 4))
  private val settings = RegEnable(start.bits, start.valid)

  private val stopped = abandon || fallback.faulted
  segments.clear := start.valid || stopped
  literals.clear := start.valid
  fallback.clear := start.valid
  planner.clear := start.valid
  history.clear := start.valid

  // In: classify, queue, and ask for what the history won't have.
  private val incoming = input.bits.segments
  private val lengths = incoming.map(segment => Mux(segment.valid, segment.length, 0.U))
  private val entered = RegInit(0.U(32.W))
  private val positions = lengths.scanLeft(entered)((sum, length) => (sum +& length)(31, 0))
  private val far = incoming.map(s => s.valid && !s.literal && s.offset > settings.history)
  input.ready := segments.roomy && literals.roomy && fallback.roomy && !stopped
  when(input.fire) { entered := positions.last }
  when(start.valid) { entered := 0.U }

  segments.pushed := Mux(input.fire, PopCount(incoming.map(_.valid)), 0.U)
  for (lane <- 0 until params.lanes) {
    segments.push(lane).length := incoming(lane).length
    segments.push(lane).offset := incoming(lane).offset
    segments.push(lane).origin := Mux(
      incoming(lane).literal,
      Origin.literal,
      Mux(far(lane), Origin.fallback, Origin.history)
    )
  }

  private val copies = incoming.zip(positions).map { case (segment, position) =>
    val copy = Wire(new FallbackCopy)
    copy.source := position - segment.offset
    copy.length := segment.length
    copy
  }
  for (lane <- 0 until params.lanes) {
    fallback.push(lane) := PriorityMux(far.drop(lane) :+ true.B, copies.drop(lane) :+ copies(lane))
  }
  fallback.pushed := Mux(input.fire, PopCount(far), 0.U)

  private val literalLengths = incoming.zip(lengths).map { case (segment, length) => Mux(segment.literal, length, 0.U) }
  literals.window := input.bits.window
  literals.at := input.bits.literalAt
  literals.count := Mux(input.fire, literalLengths.reduce(_ | _), 0.U)

  // First cycle of a step: plan it and read its sources. The queue has a place for every step under way.
  private val position = RegInit(0.U(32.W))
  private val step = planner.step
  planner.enable := !stopped && outputs.io.count <= 2.U
  planner.head := segments.head
  planner.held := segments.count
  planner.arrived := fallback.arrived
  segments.popped := planner.popped
  when(step.valid) { position := position + step.bits.count }
  when(start.valid) { position := 0.U }

  history.read := step.valid
  history.position := position
  history.offset := planner.offsets
  literals.read := step.valid
  literals.skew := planner.literals.skew
  literals.taken := planner.literals.count
  fallback.read := step.valid
  fallback.skew := planner.fallbacks.skew
  fallback.taken := planner.fallbacks.count

  // Second cycle: put the bytes together.
  private val making = RegNext(step.valid, false.B)
  private val made = RegEnable(step.bits, step.valid)
  private val sources = made.origins.zip(history.window).map { case (origin, window) =>
    MuxLookup(origin, window)(Seq(Origin.literal -> literals.line, Origin.fallback -> fallback.line))
  }
  private val joined = sources.zip(made.ends).reduceRight[(UInt, UInt)] { case ((source, end), (later, _)) =>
    val mine = Lines.below(end, bytes)
    ((source & mine) | (later & ~mine), end)
  }
  history.append.valid := making
  history.append.bits.data := joined._1 & Lines.below(made.count, bytes)
  history.append.bits.count := made.count
  outputs.io.enq.valid := making
  outputs.io.enq.bits := history.append.bits
  output <> outputs.io.deq

  fallback.stop := stopped
  fallback.destination := settings.destination
  fallback.acknowledged := acknowledged
  memory <> fallback.memory

  faulted := fallback.faulted
  drained := segments.count === 0.U && !making && outputs.io.count === 0.U && fallback.quiet

  events.fallbacks := fallback.pushed
  events.fallbackStall := planner.waiting
  events.outputStall := segments.count =/= 0.U && outputs.io.count > 2.U
  events.steps := step.valid
  events.segments := planner.popped
}

/** What happened in a cycle, for the profiling layer. */
class DecoderEvents extends Bundle {

  /** Copies from beyond the history that were queued. */
  val fallbacks = UInt(2.W)

  /** A step waited for a fall-back read. */
  val fallbackStall = Bool()

  /** A step waited for the output. */
  val outputStall = Bool()

  /** A step was made, and the segments that ended with it. */
  val steps = Bool()
  val segments = UInt(2.W)
}
