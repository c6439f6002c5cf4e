package rackwright.internet

import chisel3._
import chisel3.util._

/** Stores the first flits of each frame while the frame passes, with a latency of one cycle.
  *
  * @param words
  *   number of stored flits.
  */
class HeaderReader[T <: Data](gen: T, words: Int) extends Module {
  val in = IO(Flipped(Decoupled(new Piece(gen))))
  val out = IO(Decoupled(new Piece(gen)))

  /** The first flits of the frame at `out`, valid up to the current one. */
  val header = IO(Output(UInt((64 * words).W)))

  /** The number of the flit at `out`; `words` for all flits after the stored ones. */
  val index = IO(Output(UInt(log2Ceil(words + 1).W)))

  private val kept = Reg(Vec(words, UInt(64.W)))
  private val holds = RegInit(false.B)
  private val piece = Reg(new Piece(gen))
  private val at = Reg(UInt(index.getWidth.W))
  private val next = RegInit(0.U(index.getWidth.W))

  in.ready := !holds || out.ready
  out.valid := holds
  out.bits := piece
  header := kept.asUInt
  index := at
  when(out.ready) { holds := false.B }
  when(in.fire) {
    holds := true.B
    piece := in.bits
    at := next
    next := Mux(in.bits.flit.last, 0.U, Mux(next === words.U, next, next + 1.U))
    for (i <- 0 until words) when(next === i.U) { kept(i) := in.bits.flit.data }
  }
}
