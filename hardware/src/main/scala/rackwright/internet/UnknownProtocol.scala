package rackwright.internet

import chisel3._
import chisel3.util._

import rackwright.network.Flit

/** Drops packets of protocols that nobody here takes, and has their senders told so (RFC 1122, 3.2.2.1). */
class UnknownProtocol extends Module {
  val in = IO(Flipped(Decoupled(new Piece(new PacketInfo))))
  val ended = IO(Valid(UInt(Cause.width.W)))

  /** A packet to this host was dropped because of its protocol. */
  val unreachable = IO(Valid(new UnreachablePacket))

  in.ready := true.B
  private val (flit, packet) = (in.bits.flit, in.bits.about)
  private val isFirst = RegInit(true.B)
  private val kept = Reg(UInt(64.W))
  private val first = flit.data & FillInterleaved(8, Flit.firstBytes(flit.count))
  private val data = Mux(isFirst, first, kept)
  when(in.fire) {
    isFirst := flit.last
    kept := data
  }
  ended.valid := in.fire && flit.last
  ended.bits := Cause.first(packet.cause, true.B -> "dropped_protocol")
  private val tells = ended.valid && packet.cause === Cause.none && UnreachablePacket.isTold(packet)
  unreachable.valid := RegNext(tells, false.B)
  unreachable.bits := RegNext(UnreachablePacket.of(packet, IcmpUnreachable.protocol, data))
}
