package rackwright.deflate.decode

import chisel3._
import chisel3.util._

import rackwright.lz77.decode.{DecoderParams, Segment, SegmentGroup}
import rackwright.port.Status

/** Executes sequences: checks distances and the space in the output, and issues segments to the LZ77 decoder. It
  * sustains one sequence per cycle if its literals fit in a line and its copy fits in a segment.
  */
class TokenExecutor(params: DecoderParams) extends Module {
  private val madeBits = 33

  /** Starts a stream; the most bytes that it may produce. */
  val begin = IO(Flipped(Valid(UInt(32.W))))

  /** Abandons the stream in progress. */
  val clear = IO(Input(Bool()))
  val sequence = IO(Flipped(Decoupled(new TokenSequence)))

  /** Number of literals delivered to the decoder in this cycle. */
  val arrived = IO(Input(UInt(params.countBits.W)))
  val output = IO(Valid(new SegmentGroup(params)))

  /** The decoder can accept segments. */
  val roomy = IO(Input(Bool()))

  /** A distance reaches before the start of the stream, or the output is full; held until `begin` or `clear`. */
  val failed = IO(Output(Bool()))
  val status = IO(Output(UInt(Status.width.W)))

  /** Every accepted sequence is done. */
  val idle = IO(Output(Bool()))

  /** The next segment is waiting for its literals. */
  val starved = IO(Output(Bool()))

  private val fresh = reset.asBool || clear || begin.valid
  private class Placed extends Bundle {
    val sequence = new TokenSequence
    val end = UInt((madeBits + 1).W)
    val beforeCopy = UInt((madeBits + 1).W)
  }
  private def stage[T <: Data](from: DecoupledIO[T]): DecoupledIO[T] = withReset(fresh)(Queue(from, 1, pipe = true))

  // The number of bytes that a sequence produces, and where it ends.
  private val total = Reg(UInt(madeBits.W))
  private val room = Reg(UInt(32.W))
  private val summed = stage(sequence)
  private val placing = Wire(Decoupled(new Placed))
  placing.valid := summed.valid
  placing.bits.sequence := summed.bits
  placing.bits.end := total +& (summed.bits.literals +& summed.bits.length)
  placing.bits.beforeCopy := total +& summed.bits.literals
  summed.ready := placing.ready
  when(summed.fire) { total := placing.bits.end }
  when(begin.valid) {
    total := 0.U
    room := begin.bits
  }
  private val placed = stage(placing)

  // The checks.
  private val checking = Wire(Decoupled(new CheckedSequence))
  checking.valid := placed.valid
  checking.bits.sequence := placed.bits.sequence
  checking.bits.full := placed.bits.end > room
  private val reaches = placed.bits.beforeCopy <= room
  checking.bits.wrong := placed.bits.sequence.length =/= 0.U && reaches &&
    placed.bits.sequence.distance > placed.bits.beforeCopy
  placed.ready := checking.ready
  private val next = withReset(fresh)(Queue(checking, 2))

  // Segments.
  private val bad = withReset(fresh)(RegInit(false.B))
  private val why = Reg(UInt(Status.width.W))
  private val left = Reg(new TokenSequence)
  private val making = withReset(fresh)(RegInit(false.B))
  private val available = withReset(fresh)(RegInit(0.U(17.W)))

  private val longLiteral = left.literals > params.bytes.U
  private val literal = Mux(longLiteral, params.bytes.U, left.literals(params.countBits - 1, 0))
  private val longCopy = left.length > Segment.most.U
  private val copies = !longLiteral && left.length =/= 0.U
  private val copy = Mux(longCopy, Segment.most.U, left.length(Segment.lengthBits - 1, 0))
  private val there = available >= literal
  private val go = making && roomy && there
  private val ends = !longLiteral && !longCopy
  private val hasLiteral = literal =/= 0.U
  private def segment(valid: Bool, literal: Boolean, length: UInt): Segment = {
    val result = Wire(new Segment)
    result.valid := valid
    result.literal := literal.B
    result.length := length
    result.offset := (if (literal) 0.U else left.distance)
    result
  }
  private val copySegment = segment(copies, literal = false, copy)
  output.valid := go && (hasLiteral || copies)
  output.bits.segments(0) := Mux(hasLiteral, segment(true.B, literal = true, literal), copySegment)
  output.bits.segments(1) := copySegment
  output.bits.segments(1).valid := copies && hasLiteral
  starved := making && !there

  available := available + arrived - Mux(go, literal, 0.U)
  when(go) {
    left.literals := left.literals - literal
    when(!longLiteral) { left.length := left.length - copy }
    when(ends) { making := false.B }
  }
  next.ready := !bad && (!making || (go && ends))
  when(next.fire) {
    left := next.bits.sequence
    making := !next.bits.full && !next.bits.wrong
    bad := next.bits.full || next.bits.wrong
    why := Mux(next.bits.wrong, Status.malformed, Status.outputFull)
  }
  failed := bad
  status := why
  idle := !summed.valid && !placed.valid && !next.valid && !making
}

/** The result of the checks: whether the output has space for the sequence, and whether it is invalid. */
class CheckedSequence extends Bundle {
  val sequence = new TokenSequence
  val full = Bool()
  val wrong = Bool()
}
