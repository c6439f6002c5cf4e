package rackwright.nic.virtio

import chisel3._
import chisel3.util._

import rackwright.network.Flit
import rackwright.nic.port.SendFlit

/** Joins the parts of frames: every output flit is full except for the last of a frame.
  *
  * Frames of one part pass in the same cycle. A frame may end with one flit more than it had, which takes a cycle of
  * its own.
  *
  * @param flitBytes
  *   bytes of a flit.
  */
class SegmentPacker(flitBytes: Int) extends Module {
  val in = IO(Flipped(Decoupled(new SendFlit(flitBytes = flitBytes))))
  val out = IO(Decoupled(new SendFlit(flitBytes = flitBytes)))

  /** No flit is accepted or passed on in this cycle. */
  val idle = IO(Output(Bool()))

  private val flitBits = 8 * flitBytes
  private val carry = RegInit(0.U(flitBits.W))
  private val carried = RegInit(0.U(Flit.countBits(flitBytes).W))
  private val restValid = RegInit(false.B)
  private val rest = Reg(out.bits.cloneType)

  private val flit = in.bits.flit
  private val merged =
    (carry | (flit.data.pad(2 * flitBits) << Cat(carried(log2Ceil(flitBytes) - 1, 0), 0.U(3.W))))(2 * flitBits - 1, 0)
  private val total = carried +& flit.count
  private val full = total >= flitBytes.U
  private val splits = flit.last && total > flitBytes.U
  private val emits = full || flit.last

  out.valid := restValid || (in.valid && emits)
  in.ready := !restValid && (out.ready || !emits)
  out.bits := in.bits
  out.bits.flit.data := merged(flitBits - 1, 0)
  out.bits.flit.count := Mux(full, flitBytes.U, total)
  out.bits.flit.last := flit.last && !splits
  when(restValid) { out.bits := rest }
  idle := !in.fire && !out.fire

  private val beyond = Mux(full, total - flitBytes.U, total)
  when(restValid && out.ready) { restValid := false.B }
  when(in.fire) {
    carry := Mux(flit.last, 0.U, Mux(full, merged >> flitBits, merged))
    carried := Mux(flit.last, 0.U, beyond)
    restValid := splits
    rest := in.bits
    rest.flit.data := merged >> flitBits
    rest.flit.count := beyond
  }
}
