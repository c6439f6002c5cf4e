package rackwright.internet

import chisel3._
import chisel3.util._

import rackwright.network.Flit
import rackwright.stream.SkidBuffer

/** The destination and the type of a frame. */
class FrameTarget extends Bundle {
  val mac = UInt(48.W)
  val isArp = Bool()
}

/** Prepends the Ethernet header, with the tag of the own network if there is one. The MAC pads. */
class EthernetSend(params: Params) extends Module {
  val in = IO(Flipped(Decoupled(new Piece(new FrameTarget))))
  val settings = IO(Input(new Settings(params)))
  val out = IO(Decoupled(new Flit()))
  val idle = IO(Output(Bool()))

  private val prepender = Module(new Prepender(new FrameTarget, 18))
  prepender.in <> SkidBuffer(in)
  private val target = prepender.in.bits.about
  private val etherType = Mux(target.isArp, EthernetReceive.arp.U(16.W), EthernetReceive.ipv4.U(16.W))
  private val tag = Cat(EthernetReceive.tag.U(16.W), 0.U(4.W), settings.vlan)
  prepender.header := Mux(
    settings.tagged,
    Bytes.join(target.mac, settings.mac, tag, etherType),
    Bytes.join(target.mac, settings.mac, etherType).pad(8 * 18)
  )
  prepender.bytes := Mux(settings.tagged, 18.U, 14.U)

  private val queued = SkidBuffer(prepender.out)
  out.valid := queued.valid
  out.bits := queued.bits.flit
  queued.ready := out.ready
  idle := !prepender.in.valid && prepender.idle && !queued.valid
}
