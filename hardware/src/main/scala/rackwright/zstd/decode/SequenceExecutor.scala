package rackwright.zstd.decode

import chisel3._
import chisel3.util._

import rackwright.compression.LiteralOrder
import rackwright.lz77.decode.{DecoderParams, Segment, SegmentGroup}
import rackwright.port.Status
import rackwright.zstd.Sequence

/** Parameters of a block. */
class BlockShape extends Bundle {
  val literals = UInt(LiteralOrder.countBits.W)
  val sequences = UInt(17.W)
}

/** Parameters of a frame. */
class FrameRoom extends Bundle {

  /** The most bytes that the frame may produce. */
  val bytes = UInt(32.W)

  /** Size of the dictionary content before it, and the initial repeated offsets. */
  val dictionaryBytes = UInt(DictionaryReader.lengthBits.W)
  val offsets = Vec(3, UInt(32.W))
}

/** Executes the sequences of a block: resolves repeated offsets, checks lengths and offsets, and issues segments to the
  * LZ77 decoder. The literals after the last sequence follow. It sustains one sequence per cycle if its literals fit in
  * a line and its copy fits in a segment. A copy that starts in the dictionary and ends in the output counts as two.
  */
class SequenceExecutor(params: DecoderParams) extends Module {
  private val madeBits = 33

  /** Starts a frame. */
  val frame = IO(Flipped(Valid(new FrameRoom)))

  /** Abandons the frame in progress. */
  val clear = IO(Input(Bool()))

  /** Starts a block; accepted when the block before is done. */
  val block = IO(Flipped(Decoupled(new BlockShape)))
  val sequence = IO(Flipped(Decoupled(new Sequence)))

  /** Number of literals delivered to the decoder in this cycle. */
  val arrived = IO(Input(UInt(params.countBits.W)))
  val output = IO(Valid(new SegmentGroup(params)))

  /** The decoder can accept segments. */
  val roomy = IO(Input(Bool()))

  /** A sequence is invalid, or exceeds the output; held until the next frame or `clear`. */
  val failed = IO(Output(Bool()))
  val status = IO(Output(UInt(Status.width.W)))

  /** Every accepted block is done. */
  val idle = IO(Output(Bool()))

  /** Bytes of the frame issued to the decoder so far. */
  val made = IO(Output(UInt(madeBits.W)))

  /** The next segment is waiting for its literals. */
  val starved = IO(Output(Bool()))

  private val reset_ = reset.asBool || clear || frame.valid

  /** A sequence in the checking pipeline, or the literals at the end of a block. */
  private class Checked extends Bundle {
    val literals = UInt(LiteralOrder.countBits.W)
    val matched = UInt(Sequence.lengthBits.W)
    val offset = UInt(33.W)
    val total = UInt((LiteralOrder.countBits + 1).W)
    val end = UInt((madeBits + 1).W)
    val beforeCopy = UInt((madeBits + 1).W)

    /** The distance that a match may reach back: all bytes before it, and the dictionary. */
    val reach = UInt((madeBits + 1).W)
    val tooMany = Bool()
  }

  // The block in progress: what is left of it.
  private val busy = withReset(reset_)(RegInit(false.B))
  private val left = Reg(new BlockShape)
  private val tail = busy && left.sequences === 0.U
  block.ready := !busy
  when(block.fire) {
    busy := true.B
    left := block.bits
  }

  // Repeated offsets: the last three.
  private val repeats = Reg(Vec(3, UInt(32.W)))
  private val resolved = Wire(Decoupled(new Checked))
  private val inSequences = busy && left.sequences =/= 0.U
  private val noLiterals = sequence.bits.literals === 0.U
  private val repeated = sequence.bits.offsetValue <= 3.U
  private val which = sequence.bits.offsetValue(1, 0) +& noLiterals
  private val old = Mux1H(
    Seq(
      (which === 1.U) -> repeats(0),
      (which === 2.U) -> repeats(1),
      (which === 3.U) -> repeats(2),
      (which === 4.U) -> (repeats(0) - 1.U)
    )
  )
  private val fresh = sequence.bits.offsetValue - 3.U
  private val tooMany = sequence.bits.literals > left.literals
  resolved.valid := (inSequences && sequence.valid) || tail
  resolved.bits := DontCare
  resolved.bits.literals := Mux(tail, left.literals, sequence.bits.literals)
  resolved.bits.matched := Mux(tail, 0.U, sequence.bits.matched)
  resolved.bits.offset := Mux(repeated, old, fresh)
  resolved.bits.tooMany := !tail && tooMany
  sequence.ready := inSequences && resolved.ready
  when(sequence.fire) {
    left.sequences := left.sequences - 1.U
    left.literals := left.literals - sequence.bits.literals
    when(!repeated || which =/= 1.U) {
      when(!repeated || which =/= 2.U) { repeats(2) := repeats(1) }
      repeats(1) := repeats(0)
      repeats(0) := resolved.bits.offset
    }
  }
  when(tail && resolved.ready) { busy := false.B }
  when(frame.valid) { repeats := frame.bits.offsets }

  // The number of bytes that the sequence produces, and where it ends.
  private val summed = stage(resolved) { s => s.total := s.literals +& s.matched }
  private val total = Reg(UInt(madeBits.W))
  private val behind = Reg(UInt(madeBits.W))
  private val room = Reg(UInt(32.W))
  private val placed = stage(summed) { s =>
    s.end := total +& s.total
    s.beforeCopy := total +& s.literals
    s.reach := behind +& s.literals
  }
  when(summed.fire) {
    total := total + summed.bits.total
    behind := behind + summed.bits.total
  }
  when(frame.valid) {
    total := 0.U
    behind := frame.bits.dictionaryBytes
    room := frame.bits.bytes
  }

  // The checks, in the order of the reference library.
  private val bad = withReset(reset_)(RegInit(false.B))
  private val why = Reg(UInt(Status.width.W))
  private val verdict = Wire(Decoupled(new Verdict))
  private val full = placed.bits.end > room
  private val tooFar = placed.bits.offset > placed.bits.reach || placed.bits.offset === 0.U
  verdict.valid := placed.valid

  // A copy that starts in the dictionary and continues in the output is split into two.
  private val fromDictionary = placed.bits.offset > placed.bits.beforeCopy
  private val leaves = fromDictionary && placed.bits.offset < placed.bits.end
  private val second = withReset(reset_)(RegInit(false.B))
  private val splits = leaves && !second
  when(verdict.fire) { second := splits }
  placed.ready := verdict.ready && !splits
  verdict.bits.literals := Mux(second, 0.U, placed.bits.literals)
  verdict.bits.matched := MuxCase(
    placed.bits.matched,
    Seq(
      second -> (placed.bits.end - placed.bits.offset),
      leaves -> (placed.bits.offset - placed.bits.beforeCopy)
    )
  )
  verdict.bits.offset := placed.bits.offset
  verdict.bits.fromDictionary := fromDictionary && !second
  verdict.bits.full := full
  verdict.bits.wrong := placed.bits.tooMany || (placed.bits.matched =/= 0.U && tooFar)
  private val next = withReset(reset_)(Queue(verdict, 2))

  // Segments.
  private val literalsLeft = Reg(UInt(LiteralOrder.countBits.W))
  private val copyLeft = Reg(UInt(Sequence.lengthBits.W))
  private val offset = Reg(UInt(32.W))
  private val copiesDictionary = Reg(Bool())
  private val making = withReset(reset_)(RegInit(false.B))
  private val available = withReset(reset_)(RegInit(0.U(16.W)))

  private val longLiteral = literalsLeft > params.bytes.U
  private val literal = Mux(longLiteral, params.bytes.U, literalsLeft(params.countBits - 1, 0))
  private val longCopy = copyLeft > Segment.most.U
  private val copies = !longLiteral && copyLeft =/= 0.U
  private val copy = Mux(longCopy, Segment.most.U, copyLeft(Segment.lengthBits - 1, 0))
  private val there = available >= literal
  private val go = making && roomy && there
  private val ends = !longLiteral && !longCopy
  private val hasLiteral = literal =/= 0.U
  output.valid := go && (hasLiteral || copies)
  private val literalSegment = Wire(new Segment(params.dictionary))
  literalSegment.valid := hasLiteral
  literalSegment.literal := true.B
  literalSegment.length := literal
  literalSegment.offset := 0.U
  literalSegment.fromDictionary.foreach(_ := false.B)
  private val copySegment = Wire(new Segment(params.dictionary))
  copySegment.valid := copies
  copySegment.literal := false.B
  copySegment.length := copy
  copySegment.offset := offset
  copySegment.fromDictionary.foreach(_ := copiesDictionary)
  output.bits.segments(0) := Mux(hasLiteral, literalSegment, copySegment)
  output.bits.segments(1) := copySegment
  output.bits.segments(1).valid := copies && hasLiteral
  starved := making && !there

  available := available + arrived - Mux(go, literal, 0.U)
  private val out = RegInit(0.U(madeBits.W))
  when(go) {
    literalsLeft := literalsLeft - literal
    when(!longLiteral) { copyLeft := copyLeft - copy }
    out := out + literal + Mux(copies, copy, 0.U)
    when(ends) { making := false.B }
  }
  when(frame.valid) { out := 0.U }
  next.ready := !bad && (!making || (go && ends))
  when(next.fire) {
    literalsLeft := next.bits.literals
    copyLeft := next.bits.matched
    offset := next.bits.offset
    copiesDictionary := next.bits.fromDictionary
    making := !next.bits.full && !next.bits.wrong
    bad := next.bits.full || next.bits.wrong
    why := Mux(next.bits.full, Status.outputFull, Status.malformed)
  }
  failed := bad
  status := why
  idle := !busy && !summed.valid && !placed.valid && !next.valid && !making
  made := out

  private def stage(from: DecoupledIO[Checked])(change: Checked => Unit): DecoupledIO[Checked] = {
    val changed = Wire(Decoupled(new Checked))
    changed.valid := from.valid
    changed.bits := from.bits
    change(changed.bits)
    from.ready := changed.ready
    withReset(reset_)(Queue(changed, 1, pipe = true))
  }
}

/** The result of the checks: whether the output has space for the sequence, and whether it is invalid. */
class Verdict extends Bundle {
  val literals = UInt(LiteralOrder.countBits.W)
  val matched = UInt(Sequence.lengthBits.W)
  val offset = UInt(32.W)
  val fromDictionary = Bool()
  val full = Bool()
  val wrong = Bool()
}
