package rackwright.drx

import chisel3._
import chisel3.util._

import rackwright.stream.SkidBuffer

/** A chunk with the extents of its operands, or the last lines that they reach. */
class SpannedChunk(params: Params) extends Bundle {
  val chunk = new VectorChunk(params)

  /** Distance in bytes from the first element of an operand to its last, in the order of [[VectorChunk.operands]]. */
  val spans = Vec(3, UInt(params.countBits.W))
}

/** A chunk whose operands are inside the scratchpad, with the line that holds the last byte of each. */
class CheckedChunk(params: Params) extends Bundle {
  val chunk = new VectorChunk(params)
  val lastLines = Vec(3, UInt(params.lineBits.W))

  /** The scratchpad access of operand `which`. */
  def place(params: Params, which: Int): ScratchpadRead = {
    val place = Wire(new ScratchpadRead(params))
    place.address := chunk.operands(which).address
    place.lastLine := lastLines(which)
    place
  }
}

/** Passes on chunks that are inside the scratchpad, and stalls at one that is not. A pipeline of three stages, which
  * accepts a chunk in each cycle.
  */
class ChunkCheck(params: Params) extends Module {
  val in = IO(Flipped(Decoupled(new VectorChunk(params))))
  val out = IO(Decoupled(new CheckedChunk(params)))

  /** Drops the chunks in the pipeline. */
  val clear = IO(Input(Bool()))

  /** The oldest chunk has an operand outside the scratchpad, or a constant as its destination. */
  val broken = IO(Output(Bool()))

  /** The instruction of that chunk. */
  val index = IO(Output(UInt(params.indexBits.W)))
  val empty = IO(Output(Bool()))

  private val cut = SkidBuffer(in, clear)

  private val measured = Wire(Decoupled(new SpannedChunk(params)))
  measured.valid := cut.valid
  cut.ready := measured.ready
  measured.bits.chunk := cut.bits
  measured.bits.spans := VecInit(cut.bits.operands.map(Elements.span(_, cut.bits.count)))
  private val spanned = SkidBuffer(measured, clear)

  private val chunk = spanned.bits.chunk
  private val ends = chunk.operands.zip(spanned.bits.spans).map { case (operand, span) => operand.address +& span }
  // The destination is always written, even if it has a lane stride of zero.
  private val used = chunk.reads.init :+ true.B
  private val outside = Elements.constant(chunk.destination) ||
    ends.zip(used).map { case (end, is) => is && end > params.scratchpadBytes.U }.reduce(_ || _)

  private val checked = Wire(Decoupled(new CheckedChunk(params)))
  checked.valid := spanned.valid && !outside
  spanned.ready := checked.ready && !outside
  checked.bits.chunk := chunk
  for ((line, end) <- checked.bits.lastLines.zip(ends)) {
    line := (end(params.addressBits, 0) - 1.U) >> params.offsetBits
  }
  out <> SkidBuffer(checked, clear)

  broken := spanned.valid && outside && !out.valid
  index := chunk.index
  empty := !cut.valid && !spanned.valid && !out.valid
}
