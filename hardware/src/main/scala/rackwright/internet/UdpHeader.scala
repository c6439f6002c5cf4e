package rackwright.internet

import chisel3._
import chisel3.util._

import rackwright.stream.SkidBuffer

/** A datagram, and its next station. */
class Routed extends Bundle {
  val datagram = new DatagramTarget
  val mac = UInt(48.W)
}

/** Prepends the UDP header to the data of a datagram. */
class UdpHeader extends Module {
  val in = IO(Flipped(Decoupled(new Piece(new Routed))))
  val out = IO(Decoupled(new Piece(new PacketTarget)))
  val idle = IO(Output(Bool()))

  private val prepender = Module(new Prepender(new Routed, 8))
  prepender.in <> SkidBuffer(in)
  private val datagram = prepender.in.bits.about.datagram
  prepender.header := Bytes.join(datagram.ports, datagram.length + 8.U, datagram.checksum)
  prepender.bytes := 8.U
  private val queued = SkidBuffer(prepender.out)
  out.valid := queued.valid
  queued.ready := out.ready
  out.bits.flit := queued.bits.flit
  out.bits.about.mac := queued.bits.about.mac
  out.bits.about.source := queued.bits.about.datagram.source
  out.bits.about.destination := queued.bits.about.datagram.destination
  out.bits.about.protocol := UdpReceive.protocol.U
  out.bits.about.length := queued.bits.about.datagram.length + 8.U
  idle := !prepender.in.valid && prepender.idle && !queued.valid
}
