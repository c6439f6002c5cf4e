package rackwright.internet

import chisel3._
import chisel3.util._

/** Puts datagrams together from their fragments; other packets pass. */
class Reassembly(params: Params) extends Module {
  val in = IO(Flipped(Decoupled(new Piece(new PacketInfo))))
  val settings = IO(Input(new Settings(params)))
  val out = IO(Decoupled(new Piece(new PacketInfo)))
  val ended = IO(Vec(2, Valid(UInt(Cause.width.W))))

  /** See [[Reassembler]]. */
  val assembled = IO(Output(Bool()))
  val abandoned = IO(Output(Vec(params.reassembly, Bool())))
  val idle = IO(Output(Bool()))

  private val reassembler = Module(new Reassembler(params))
  private val rejoin = Module(new Rejoin(params))
  private val isFragment = in.bits.about.isFragment
  for ((box, chosen) <- Seq(reassembler.in -> isFragment, rejoin.packets -> !isFragment)) {
    box.valid := in.valid && chosen
    box.bits := in.bits
  }
  in.ready := Mux(isFragment, reassembler.in.ready, rejoin.packets.ready)
  reassembler.settings := settings
  rejoin.assembled <> reassembler.out
  out <> rejoin.out
  ended(0) := reassembler.ended
  ended(1) := rejoin.ended
  assembled := reassembler.assembled
  abandoned := reassembler.abandoned
  idle := reassembler.idle && rejoin.idle
}
