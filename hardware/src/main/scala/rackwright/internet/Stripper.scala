package rackwright.internet

import chisel3._
import chisel3.util._

import rackwright.network.Frame

/** Takes the first bytes of each frame away, so that the byte after them becomes byte 0 of a flit.
  *
  * Every incoming frame leaves, if necessary without a byte. A flit passes in each cycle, but for one more cycle at the
  * end of a frame whose bytes need another flit.
  *
  * @param most
  *   most bytes that are taken away.
  */
class Stripper[T <: Data](gen: T, most: Int) extends Module {
  private val flitBytes = Frame.flitBytes
  val in = IO(Flipped(Decoupled(new Piece(gen))))

  /** Number of bytes to remove; valid from the flit on that contains the last of them, and before at least up to the
    * end of the flit at `in`.
    */
  val bytes = IO(Input(UInt(log2Ceil(most + 1).W)))
  val out = IO(Decoupled(new Piece(gen)))

  /** With `out`: the frame has fewer bytes. */
  val cut = IO(Output(Bool()))

  /** No bytes are stored here. */
  val idle = IO(Output(Bool()))

  private val shift = bytes(2, 0)
  private val whole = bytes >> 3

  /** The high bytes of the last flit, which leave before those of the next. */
  private val held = Reg(UInt(64.W))
  private val heldCount = Reg(UInt(Frame.countBits.W))
  private val heldAbout = Reg(gen)
  private val begun = RegInit(false.B)
  private val rest = RegInit(false.B)
  private val at = RegInit(0.U((whole.getWidth + 1).W))

  private val flit = in.bits.flit
  private val isFirst = !begun && at === whole
  private val turned = (flit.data >> Cat(shift, 0.U(3.W)))(63, 0)
  private val joined = held | (Cat(flit.data, 0.U(64.W)) >> Cat(shift, 0.U(3.W)))(63, 0)
  private val fits = flit.count <= shift
  private val enough = isFirst && flit.count >= shift

  private val gives = begun || flit.last
  out.valid := rest || (in.valid && gives)
  in.ready := !rest && (out.ready || !gives)
  out.bits.about := Mux(rest, heldAbout, in.bits.about)
  // A frame may end with the bytes that are taken away.
  private val exact = shift === 0.U && at +& 1.U === whole && flit.count === flitBytes.U
  cut := !rest && !begun && !enough && !exact
  out.bits.flit.data := Mux(rest, held, Mux(begun, joined, turned))
  out.bits.flit.last := rest || (flit.last && (!begun || fits))
  out.bits.flit.count := MuxCase(
    0.U,
    Seq(
      rest -> heldCount,
      (begun && flit.last && fits) -> (flitBytes.U - shift + flit.count),
      begun -> flitBytes.U,
      enough -> (flit.count - shift)
    )
  )
  idle := !rest

  when(rest && out.ready) { rest := false.B }
  when(in.fire) {
    held := turned
    heldCount := flit.count - shift
    heldAbout := in.bits.about
    when(flit.last) {
      rest := begun && !fits
      begun := false.B
      at := 0.U
    }.otherwise {
      begun := begun || isFirst
      at := at + (!begun && !isFirst)
    }
  }
}
