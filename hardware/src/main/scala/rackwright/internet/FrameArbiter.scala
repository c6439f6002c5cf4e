package rackwright.internet

import chisel3._
import chisel3.util._

/** Passes whole frames of several sources, the sources in turn. */
class FrameArbiter[T <: Data](gen: T, sources: Int) extends Module {
  val in = IO(Vec(sources, Flipped(Decoupled(new Piece(gen)))))
  val out = IO(Decoupled(new Piece(gen)))

  private val locked = RegInit(false.B)
  private val owner = RegInit(0.U((log2Ceil(sources) max 1).W))
  private val asks = VecInit(in.map(_.valid))
  private val after = VecInit(asks.zipWithIndex.map { case (ask, i) => ask && i.U > owner })
  private val next = Mux(after.asUInt.orR, PriorityEncoder(after), PriorityEncoder(asks))
  private val chosen = Mux(locked, owner, next)

  out.valid := asks(chosen)
  out.bits := in(chosen).bits
  for ((source, i) <- in.zipWithIndex) source.ready := out.ready && chosen === i.U
  when(out.fire) {
    owner := chosen
    locked := !out.bits.flit.last
  }
}
