package rackwright.stream

import chisel3._
import chisel3.util._

/** Passes whole frames of several sources, the sources in turn.
  *
  * @param gen
  *   a part of a frame.
  * @param sources
  *   number of sources.
  * @param isLast
  *   whether a part is the last one of its frame.
  */
class FrameArbiter[T <: Data](gen: T, sources: Int, isLast: T => Bool) extends Module {
  val in = IO(Vec(sources, Flipped(Decoupled(gen))))
  val out = IO(Decoupled(gen))

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
    locked := !isLast(out.bits)
  }
}
