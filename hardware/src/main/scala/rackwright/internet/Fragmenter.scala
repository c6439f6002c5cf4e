package rackwright.internet

import chisel3._
import chisel3.util._

import rackwright.network.Frame

/** Divides messages that are longer than a packet (RFC 791, 3.2): each part but the last has as many whole units of 8
  * bytes as fit. All parts of a message have an identification of their own (RFC 6864).
  */
class Fragmenter(params: Params) extends Module {
  private val most = (params.mtu - 20) / Frame.flitBytes * Frame.flitBytes
  val in = IO(Flipped(Decoupled(new Piece(new PacketTarget))))
  val out = IO(Decoupled(new Piece(new PacketPart)))

  private val identification = RegInit(1.U(16.W))
  private val begun = RegInit(false.B)
  private val (left, offset) = (Reg(UInt(16.W)), Reg(UInt(13.W)))
  private val at = RegInit(0.U(log2Ceil(most / Frame.flitBytes).W))

  private val length = in.bits.about.length
  private val divides = begun || length > (params.mtu - 20).U
  private val rest = Mux(begun, left, length)
  private val more = divides && rest > most.U
  private val isFull = more && at === (most / Frame.flitBytes - 1).U
  out.valid := in.valid
  in.ready := out.ready
  out.bits.flit := in.bits.flit
  out.bits.flit.last := in.bits.flit.last || isFull
  private val part = out.bits.about
  part.target := in.bits.about
  part.target.length := Mux(more, most.U, rest)
  part.identification := Mux(divides, identification, 0.U)
  part.isWhole := !divides
  part.more := more
  part.offset := Mux(begun, offset, 0.U)
  when(out.fire) {
    at := Mux(out.bits.flit.last, 0.U, at + 1.U)
    when(isFull) {
      begun := true.B
      left := rest - most.U
      offset := part.offset + (most / Frame.flitBytes).U
    }
    when(in.bits.flit.last) {
      begun := false.B
      when(divides) { identification := Mux(identification.andR, 1.U, identification + 1.U) }
    }
  }
}
