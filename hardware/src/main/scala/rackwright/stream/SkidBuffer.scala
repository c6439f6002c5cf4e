package rackwright.stream

import chisel3._
import chisel3.util._

/** A queue of two entries with registered outputs: `in.ready` depends on nothing else, and `out` on no multiplexer of
  * entries. An entry passes in each cycle; one that enters is seen in the next.
  */
class SkidBuffer[T <: Data](gen: T) extends Module {
  val in = IO(Flipped(Decoupled(gen)))
  val out = IO(Decoupled(gen))

  /** Drops stored and arriving entries. */
  val clear = IO(Input(Bool()))

  private val (head, second) = (Reg(gen), Reg(gen))
  private val hasHead = RegInit(false.B)
  private val hasSecond = RegInit(false.B)

  in.ready := !hasSecond
  out.valid := hasHead
  out.bits := head

  private val moves = out.ready || !hasHead
  when(moves) {
    head := Mux(hasSecond, second, in.bits)
    hasHead := hasSecond || in.valid
    hasSecond := false.B
  }.elsewhen(in.fire) {
    hasSecond := true.B
  }
  when(in.ready) { second := in.bits }
  when(clear) {
    hasHead := false.B
    hasSecond := false.B
  }
}

/** Inserts a [[SkidBuffer]] after a port. */
object SkidBuffer {

  /** The output of a buffer with the input `in`. */
  def apply[T <: Data](in: DecoupledIO[T], clear: Bool = false.B): DecoupledIO[T] = {
    val buffer = Module(new SkidBuffer(chiselTypeOf(in.bits)))
    buffer.in <> in
    buffer.clear := clear
    buffer.out
  }
}
