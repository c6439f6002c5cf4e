package rackwright.lz77.decode

import chisel3._
import chisel3.util._

/** A part of a segment that can be produced in one step, if its source was produced before. */
class CutPiece(params: DecoderParams) extends Bundle {
  val valid = Bool()
  val literal = Bool()
  val length = UInt(params.countBits.W)
  val offset = UInt(32.W)
  val fromDictionary = Option.when(params.dictionary)(Bool())
}

/** Splits segments into pieces of at most one line that do not read their own output.
  *
  * Groups whose segments need no splitting pass, a group per cycle; otherwise, one piece is split off per cycle. A copy
  * with an offset of less than a line is split at its offset. To accelerate short repetitions, the offset then doubles,
  * because the bytes before contain two periods; later copies with the same offset continue with the increased offset.
  */
class DecoderCutter(params: DecoderParams) extends Module {
  private val lanes = params.lanes
  private val bytes = params.bytes

  /** Drops pieces in progress. */
  val clear = IO(Input(Bool()))
  val input = IO(Flipped(Decoupled(new CuttableGroup(params))))

  /** The pieces of this cycle, valid ones first; allowed while `enable`. */
  val enable = IO(Input(Bool()))
  val pieces = IO(Output(Vec(lanes, new CutPiece(params))))

  private val group = input.bits
  private val pass = group.simple && input.valid && enable
  private val cut = !group.simple && input.valid && enable

  // The segment being split.
  private val lane = RegInit(0.U(1.W))
  private val done = RegInit(0.U(Segment.lengthBits.W))

  // Offsets of repetitions are shorter than a line; one that was doubled is shorter than two.
  private val runValid = RegInit(false.B)
  private val runOrigin = Reg(UInt(params.lineBits.W))
  private val runOffset = Reg(UInt(params.countBits.W))

  private val segment = if (lanes == 2) Mux(lane === 0.U, group.segments(0), group.segments(1)) else group.segments(0)
  private val short = segment.offset < bytes.U && !segment.literal
  private val inRun = runValid && short && segment.offset(params.lineBits - 1, 0) === runOrigin
  private val offset = Mux(inRun, runOffset, segment.offset(params.countBits - 1, 0))
  private val near = short && offset < bytes.U
  private val bound = Mux(near, offset, bytes.U)
  private val left = segment.length - done
  private val whole = left <= bound
  private val take = Mux(whole, left(params.countBits - 1, 0), bound)
  private val isLast = if (lanes == 2) lane === 1.U || !group.segments(1).valid else true.B

  input.ready := enable && (group.simple || (whole && isLast))
  for (i <- 0 until lanes) {
    pieces(i).valid := pass && group.segments(i).valid
    pieces(i).literal := group.segments(i).literal
    pieces(i).length := group.segments(i).length
    pieces(i).offset := group.segments(i).offset
    Optional.connect(pieces(i).fromDictionary, group.segments(i).fromDictionary)
  }
  when(cut) {
    pieces.foreach(_.valid := false.B)
    pieces(0).valid := true.B
    pieces(0).literal := segment.literal
    pieces(0).length := take
    pieces(0).offset := Mux(short, offset, segment.offset)
    Optional.connect(pieces(0).fromDictionary, segment.fromDictionary)

    done := Mux(whole, 0.U, done + take)
    lane := Mux(whole, !isLast, lane)
    // A dictionary does not repeat the output: after a copy from it, no larger offset is valid.
    runValid := segment.fromDictionary.fold(short)(short && !_)
    runOrigin := segment.offset
    runOffset := Mux(near && take === offset, offset << 1, offset)
  }
  when(pass) { runValid := false.B }
  when(clear) {
    lane := 0.U
    done := 0.U
    runValid := false.B
  }
}

/** A group, and whether none of its segments has to be split. */
class CuttableGroup(params: DecoderParams) extends SegmentGroup(params) {
  val simple = Bool()
}
