package rackwright.internet

import chisel3._
import chisel3.util._

import rackwright.network.Flit
import rackwright.stream.SkidBuffer

/** The header of a frame. */
class FrameInfo extends Bundle {
  val source = UInt(48.W)

  /** To everybody, or to a group. */
  val broadcast = Bool()
  val cause = UInt(Cause.width.W)
}

/** Removes the Ethernet header, with or without a tag, from each frame, and distinguishes ARP from IPv4 (RFC 894, IEEE
  * 802.1Q).
  *
  * Other frames, and frames for other stations, are dropped here.
  */
class EthernetReceive(params: Params) extends Module {
  val in = IO(Flipped(Decoupled(new Flit())))
  val settings = IO(Input(new Settings(params)))
  val arp = IO(Decoupled(new Piece(new FrameInfo)))
  val ipv4 = IO(Decoupled(new Piece(new FrameInfo)))

  /** A frame ended here. */
  val ended = IO(Valid(UInt(Cause.width.W)))
  val idle = IO(Output(Bool()))

  private class Parsed extends Bundle {
    val frame = new FrameInfo
    val isArp = Bool()
    val tagged = Bool()
  }

  private val reader = Module(new HeaderReader(Bool(), 3))
  reader.in.valid := in.valid
  reader.in.bits.flit := in.bits
  reader.in.bits.about := false.B
  in.ready := reader.in.ready

  private val header = reader.header
  private val destination = Bytes.number(header, 0, 6)
  private val source = Bytes.number(header, 6, 6)
  private val firstType = Bytes.number(header, 12, 2)
  private val tagged = firstType === EthernetReceive.tag.U
  private val vlan = Bytes.number(header, 14, 2)(11, 0)
  private val etherType = Mux(tagged, Bytes.number(header, 16, 2), firstType)
  private val isArp = etherType === EthernetReceive.arp.U

  private val parsed = Wire(Decoupled(new Piece(new Parsed)))
  parsed.valid := reader.out.valid
  reader.out.ready := parsed.ready
  parsed.bits.flit := reader.out.bits.flit
  parsed.bits.about.isArp := isArp
  parsed.bits.about.tagged := tagged
  parsed.bits.about.frame.source := source
  parsed.bits.about.frame.broadcast := destination(40)
  // Without a network of its own, a host takes frames with a priority only (number 0) as if they had no tag.
  private val otherVlan =
    Mux(settings.tagged, !tagged || vlan =/= settings.vlan, tagged && vlan =/= 0.U)
  parsed.bits.about.frame.cause := Cause.first(
    Cause.none,
    (destination =/= settings.mac && !destination.andR && !settings.isGroupStation(destination) || source(
      40
    )) -> "dropped_mac",
    otherVlan -> "dropped_vlan",
    (!isArp && etherType =/= EthernetReceive.ipv4.U) -> "dropped_ethertype"
  )

  private val stripper = Module(new Stripper(new Parsed, 18))
  stripper.in <> SkidBuffer(parsed)
  stripper.bytes := Mux(stripper.in.bits.about.tagged, 18.U, 14.U)

  private val stripped = Wire(Decoupled(new Piece(new Parsed)))
  stripped <> stripper.out
  when(stripper.cut) { stripped.bits.about.frame.cause := Cause("dropped_short") }
  private val out = SkidBuffer(stripped)
  private val goesOn = out.bits.about.frame.cause === Cause.none
  for ((port, chosen) <- Seq(arp -> out.bits.about.isArp, ipv4 -> !out.bits.about.isArp)) {
    port.valid := out.valid && goesOn && chosen
    port.bits.flit := out.bits.flit
    port.bits.about := out.bits.about.frame
  }
  out.ready := !goesOn || Mux(out.bits.about.isArp, arp.ready, ipv4.ready)
  ended.valid := out.valid && !goesOn && out.bits.flit.last
  ended.bits := out.bits.about.frame.cause
  idle := !reader.out.valid && !stripper.in.valid && stripper.idle && !out.valid
}

/** Types of frames. */
object EthernetReceive {
  val ipv4: Int = 0x0800
  val arp: Int = 0x0806
  val tag: Int = 0x8100
}
