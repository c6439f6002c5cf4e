package rackwright.deflate.decode

import chisel3._
import chisel3.util._

/** The part of a chunk that is handled in one cycle: any number of literals, and at most one copy. */
class TokenPart(val bits: Int) extends Bundle {
  val measured = new MeasuredChunk(bits)

  /** Start bits of literals, and those of them before the copy; all of them if there is none. */
  val literals = UInt(bits.W)
  val before = UInt(bits.W)

  /** Start bit of the distance, start bit of its length, and start bit of a later length whose distance is in another
    * part; or none.
    */
  val distance = UInt(bits.W)
  val length = UInt(bits.W)
  val pending = UInt(bits.W)

  /** The block ends after this part. */
  val stops = Bool()
}

/** Splits chunks into parts with at most one distance each. */
class TokenSplitter(bits: Int) extends Module {

  /** Drops the chunk in progress. */
  val clear = IO(Input(Bool()))
  val chunk = IO(Flipped(Decoupled(new MarkedChunk(bits))))

  /** Parts may advance. */
  val enable = IO(Input(Bool()))
  val part = IO(Valid(new TokenPart(bits)))

  /** Valid with the last part: whether an invalid code follows, and the bit after the end of the block, relative to the
    * start of the chunk.
    */
  val wrong = IO(Output(Bool()))
  val end = IO(Output(UInt(chiselTypeOf(chunk.bits.end).getWidth.W)))

  /** All parts of a chunk have left. */
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
