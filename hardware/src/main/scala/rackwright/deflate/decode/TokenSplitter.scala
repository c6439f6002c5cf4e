package rackwright.deflate.decode

import chisel3._
import chisel3.util._

/** What one cycle takes of a chunk: any number of literals, and at most one distance. */
class TokenPart(val bits: Int) extends Bundle {
  val measured = new MeasuredChunk(bits)

  /** Bits at which literals begin, and those of them that are before the distance; all are behind it if there is none.
    */
  val literals = UInt(bits.W)
  val before = UInt(bits.W)

  /** The bit at which the distance begins, its length, and a length behind it whose distance comes later; or none. */
  val distance = UInt(bits.W)
  val length = UInt(bits.W)
  val pending = UInt(bits.W)

  /** The block ends behind this part. */
  val stops = Bool()
}

/** Takes chunks apart so that each part has one distance at most. */
class TokenSplitter(bits: Int) extends Module {

  /** Forgets what is held. */
  val clear = IO(Input(Bool()))
  val chunk = IO(Flipped(Decoupled(new MarkedChunk(bits))))

  /** Parts may leave. */
  val enable = IO(Input(Bool()))
  val part = IO(Valid(new TokenPart(bits)))

  /** With the last part: whether something is wrong behind it, and the bit behind the end of the block, counted from
    * the begin of the chunk.
    */
  val wrong = IO(Output(Bool()))
  val end = IO(Output(UInt(chiselTypeOf(chunk.bits.end).getWidth.W)))

  /** A chunk was used up. */
  val passed = IO(Output(Bool()))

  private val there = RegInit(false.B)
  private val held = Reg(new MarkedChunk(bits))
  private val first = PriorityEncoderOH(held.distances)
  private val more = (held.distances & ~first).orR
  private val any = held.distances.orR
  private val below = Mux(any, first - 1.U, 0.U(bits.W))
  private val upTo = Mux(more, below | first, Fill(bits, 1.U(1.W)))
  private val go = there && enable

  part.valid := go
  part.bits.measured := held.measured
  part.bits.literals := held.literals & upTo
  part.bits.before := held.literals & below
  part.bits.distance := first & held.distances
  part.bits.length := held.lengths & below
  part.bits.pending := held.lengths & upTo & ~below
  part.bits.stops := held.stops && !more
  wrong := held.wrong
  end := held.end
  passed := go && !more
  chunk.ready := !there || passed

  when(go) {
    held.literals := held.literals & ~upTo
    held.lengths := held.lengths & ~upTo
    held.distances := held.distances & ~upTo
  }
  when(chunk.ready) {
    there := chunk.valid && !(go && part.bits.stops)
    held := chunk.bits
  }
  when(clear) { there := false.B }
}
