package rackwright.internet

import chisel3._
import chisel3.util._

import rackwright.network.Frame

/** Prepends a header to each frame: a flit per cycle, and one more cycle at the end if the bytes need another flit.
  *
  * @param most
  *   bytes of the longest header.
  */
class Prepender[T <: Data](gen: T, most: Int) extends Module {
  private val flitBytes = Frame.flitBytes
  private val words = (most + flitBytes - 1) / flitBytes
  val in = IO(Flipped(Decoupled(new Piece(gen))))

  /** The header of the frame at `in`, from its first flit on and as long as that is not taken; after its bytes, 0. */
  val header = IO(Input(UInt((8 * most).W)))
  val bytes = IO(Input(UInt(log2Ceil(most + 1).W)))
  val out = IO(Decoupled(new Piece(gen)))

  /** No bytes are stored here. */
  val idle = IO(Output(Bool()))

  private val at = RegInit(0.U(log2Ceil(words + 2).W))
  private val slots = 1 << at.getWidth
  private val all = header.pad(64 * slots).asTypeOf(Vec(slots, UInt(64.W)))
  private val whole = (bytes >> 3).pad(at.getWidth)

  /** Bytes of the header in the flit with the first of the frame's; those of a frame are stored, because they are
    * needed longer.
    */
  private val residue = Reg(UInt(3.W))
  private val held = Reg(UInt(64.W))
  private val heldCount = Reg(UInt(Frame.countBits.W))
  private val heldAbout = Reg(gen)
  private val headed = RegInit(false.B)
  private val rest = RegInit(false.B)

  private val flit = in.bits.flit
  private val total = residue +& flit.count
  private val fits = total <= flitBytes.U
  private val shifted = (Cat(0.U(64.W), flit.data) << Cat(residue, 0.U(3.W)))(127, 0)
  private val heads = !headed && at =/= whole

  out.valid := rest || (in.valid && (headed || heads))
  in.ready := headed && !rest && out.ready
  out.bits.about := Mux(rest, heldAbout, in.bits.about)
  out.bits.flit.data := Mux(rest, held, Mux(headed, held | shifted(63, 0), all(at)))
  out.bits.flit.count := Mux(rest, heldCount, Mux(headed && flit.last && fits, total(3, 0), flitBytes.U))
  out.bits.flit.last := rest || (headed && flit.last && fits)
  idle := !rest

  when(rest && out.ready) { rest := false.B }
  when(!headed && in.valid && !rest) {
    // The end of the header, of less than a flit, is stored from the cycle on in which its whole flits have left.
    residue := bytes(2, 0)
    held := all(whole)
    val goes = Mux(heads, out.ready, true.B)
    val done = Mux(heads, at + 1.U === whole, true.B)
    when(goes) {
      at := Mux(done, 0.U, at + 1.U)
      headed := done
    }
  }
  when(in.fire) {
    held := shifted(127, 64)
    heldCount := total(3, 0) - flitBytes.U
    heldAbout := in.bits.about
    when(flit.last) {
      headed := false.B
      rest := !fits
    }
  }
}
