package rackwright.daronpon

import chisel3._
import chisel3.util._

import rackwright.port.StreamFlit

/** Packs pieces of up to eight bytes into full flits. Only the last piece may be empty. */
class Packer extends Module {
  private val flitBytes = Sizes.flitBytes
  val in = IO(Flipped(Decoupled(new Piece)))
  val out = IO(Decoupled(new StreamFlit(flitBytes)))
  val idle = IO(Output(Bool()))

  private val kept = RegInit(0.U((8 * flitBytes).W))
  private val count = RegInit(0.U(4.W))
  private val flushing = RegInit(false.B)

  private val mask = Cat((0 until flitBytes).reverse.map(i => Fill(8, in.bits.count > i.U)))
  private val bytes = in.bits.data & mask
  private val together = kept.pad(16 * flitBytes) | (bytes << Cat(count(2, 0), 0.U(3.W))).pad(16 * flitBytes)
  private val total = count +& in.bits.count
  private val full = total >= flitBytes.U
  private val ends = in.bits.last && total <= flitBytes.U
  private val emits = full || in.bits.last

  out.valid := flushing || (in.valid && emits)
  out.bits.data := Mux(flushing, kept, together(8 * flitBytes - 1, 0))
  out.bits.last := flushing || ends
  private val leaving = Mux(flushing, count, Mux(full, flitBytes.U, total))
  out.bits.keep := ((1.U(9.W) << leaving) - 1.U)(flitBytes - 1, 0)
  in.ready := !flushing && (out.ready || !emits)
  idle := !flushing

  assert(count < flitBytes.U, "a full flit is not kept")
  assert(!in.valid || in.bits.last || in.bits.count =/= 0.U, "an empty piece that is not the last")
  assert(!in.valid || in.bits.count <= 8.U, "a piece of more than eight bytes")

  when(out.fire && flushing) {
    flushing := false.B
    kept := 0.U
    count := 0.U
  }.elsewhen(in.fire) {
    flushing := in.bits.last && !ends
    kept := Mux(ends, 0.U, Mux(full, together >> (8 * flitBytes), together))
    count := Mux(ends, 0.U, Mux(full, total - flitBytes.U, total))
  }
}
