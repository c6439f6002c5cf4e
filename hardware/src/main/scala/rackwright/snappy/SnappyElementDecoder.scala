package rackwright.snappy

import chisel3._
import chisel3.util._

import rackwright.access.RangeBeat
import rackwright.lz77.decode.{DecoderParams, LiteralRun, SegmentGroup}

/** Parses a Snappy stream, up to two elements per cycle, and checks every rule of the format.
  *
  * Mostly wires: the meaning of each byte ([[PlacedBeat]]), the starts of elements ([[SnappyElementFinder]]), their
  * contents ([[SnappyElementReader]]) and their validity ([[SnappyElementChecker]]). There are no stalls between the
  * finder and the output; the finder stops while the output has no room for the elements in progress.
  */
class SnappyElementDecoder(params: DecoderParams) extends Module {

  /** A stream begins, `offset` bytes into its first beat: its preamble is read. */
  val open = IO(Flipped(Valid(UInt(params.lineBits.W))))
  val beat = IO(Flipped(Decoupled(new RangeBeat(params.port))))

  /** The stream is aborted. */
  val stop = IO(Input(Bool()))

  /** The preamble, for one cycle; `start` some time later passes over it and begins the body. */
  val preamble = IO(Valid(new SnappyPreamble))

  /** The body starts in the next cycle: `declared` bytes of output result from `inputLeft` bytes of input. */
  val start = IO(Flipped(Valid(UInt(3.W))))
  val declared = IO(Input(UInt(32.W)))
  val inputLeft = IO(Input(UInt(64.W)))

  /** Elements are accepted in this cycle, if there are any: the output has room for all that may be in progress. */
  val enable = IO(Input(Bool()))
  val output = IO(Valid(new SegmentGroup(params)))

  /** The bytes of literals, in order, each before the segment it belongs to. */
  val literals = IO(Valid(new LiteralRun(params)))

  /** The whole input was consumed and produced the declared number of bytes. */
  val finished = IO(Output(Bool()))

  /** An element, or the end, is wrong. */
  val malformed = IO(Output(Bool()))

  /** The bytes after the available ones cannot be read. */
  val faultAhead = IO(Output(Bool()))

  /** The next bytes cannot be read. */
  val unreadable = IO(Output(Bool()))

  /** The input does not arrive fast enough. */
  val starved = IO(Output(Bool()))

  /** Bytes of input from the head of the wrong, unreadable or next element on. */
  val elementLeft = IO(Output(UInt(64.W)))

  private val finder = Module(new SnappyElementFinder(params))
  private val reader = Module(new SnappyElementReader(params))
  private val checker = Module(new SnappyElementChecker(params))

  private val placed = Wire(Decoupled(new PlacedBeat(params.port)))
  placed.valid := beat.valid
  placed.bits := PlacedBeat(beat.bits)
  beat.ready := placed.ready
  withReset(reset.asBool || open.valid || stop) { finder.beat <> Queue(placed, 2) }

  finder.start := open
  finder.stop := stop
  finder.enable := enable
  reader.clear := open.valid || stop
  reader.found := finder.found

  private val body = RegInit(false.B)
  private val read = reader.elements
  finder.head.valid := start.valid || (body && read.valid && read.bits.alone)
  finder.head.bits.there := start.valid || read.bits.there
  finder.head.bits.bytes := Mux(start.valid, start.bits, read.bits.first.headBytes)
  finder.head.bits.literalBytes := Mux(start.valid, 0.U, read.bits.first.length)
  when(start.valid) { body := true.B }
  when(open.valid || stop) { body := false.B }

  preamble.valid := RegNext(read.valid && !body, false.B)
  preamble.bits := RegNext(reader.preamble)

  checker.start := start.valid
  checker.declared := declared
  checker.inputLeft := inputLeft
  checker.elements.valid := read.valid && body
  checker.elements.bits := read.bits
  output := checker.output
  literals.valid := reader.literals.valid && body
  literals.bits := reader.literals.bits

  // The end counts when all before it has been judged.
  private val quiet = RegNext(!reader.busy && !checker.busy && !finder.found.valid, false.B)
  private val ended = body && quiet && finder.ended && !checker.busy
  finished := ended && checker.complete && !checker.wrong
  malformed := body && (checker.wrong || (ended && !checker.complete))
  // The checker keeps its verdict on the stream before until a body begins: it is not one on this preamble.
  unreadable := quiet && finder.unreadable && !(body && checker.wrong)
  faultAhead := finder.faultAhead
  starved := body && finder.starved
  elementLeft := Mux(checker.wrong, checker.wrongLeft, Mux(finder.inLiteral, checker.latestLeft, checker.left))
}
