package rackwright.internet

import chisel3._
import chisel3.util._

/** Ends each frame after a given number of bytes and drops the rest; a flit per cycle. */
class Trimmer[T <: Data](gen: T) extends Module {
  val in = IO(Flipped(Decoupled(new Piece(gen))))

  /** Bytes that are left of the frame at `in`; with its first flit. */
  val bytes = IO(Input(UInt(16.W)))
  val out = IO(Decoupled(new Piece(gen)))

  /** With `out`: the frame ends before. */
  val short = IO(Output(Bool()))

  private val first = RegInit(true.B)
  private val done = RegInit(false.B)
  private val remaining = Reg(UInt(16.W))

  private val flit = in.bits.flit
  private val left = Mux(first, bytes, remaining)
  private val ends = left <= flit.count

  out.valid := in.valid && !done
  in.ready := out.ready || done
  out.bits := in.bits
  out.bits.flit.count := Mux(ends, left(flit.count.getWidth - 1, 0), flit.count)
  out.bits.flit.last := ends || flit.last
  short := flit.last && !ends
  when(in.fire) {
    first := flit.last
    done := !flit.last && (done || ends)
    remaining := left - flit.count
  }
}
