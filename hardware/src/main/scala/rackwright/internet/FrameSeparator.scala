package rackwright.internet

import chisel3._
import chisel3.util._

import rackwright.network.Flit

/** Separates the frames of a link that two share: those that this unit has a use for, and the rest, for a network
  * interface. ARP is of use to both.
  *
  * A frame is delayed until its first six flits are there. It is the unit's own if it is a whole IPv4 packet without
  * options, to this host or to all, and either UDP to a bound port or ICMP echo; a frame shorter than that is too.
  */
class FrameSeparator(params: Params) extends Module {
  import FrameSeparator._

  val in = IO(Flipped(Decoupled(new Flit())))
  val settings = IO(Input(new Settings(params)))
  val own, rest = IO(Decoupled(new Flit()))
  val idle = IO(Output(Bool()))

  private val flits = Module(new Queue(new Flit, words + 2))
  private val verdicts = Module(new Queue(new Verdict, 4))
  private val kept = Reg(Vec(words, UInt(64.W)))
  private val at = RegInit(0.U(log2Ceil(words + 1).W))
  private val judges, short = RegInit(false.B)

  in.ready := flits.io.enq.ready && verdicts.io.count < 3.U
  flits.io.enq.valid := in.fire
  flits.io.enq.bits := in.bits
  judges := in.fire && (at === (words - 1).U || at < words.U && in.bits.last)
  short := at < (words - 1).U
  when(in.fire) {
    for (i <- 0 until words) when(at === i.U) { kept(i) := in.bits.data }
    at := Mux(in.bits.last, 0.U, Mux(at === words.U, at, at + 1.U))
  }

  private val header = kept.asUInt
  private val firstType = Bytes.number(header, 12, 2)
  private val tagged = firstType === EthernetReceive.tag.U
  private val vlan = Bytes.number(header, 14, 2)(11, 0)
  private val later = Mux(tagged, header >> 32, header)
  private val etherType = Bytes.number(later, 12, 2)
  private val station = Bytes.number(header, 0, 6)
  private val address = Bytes.number(later, 30, 4)
  private val protocol = Bytes.number(later, 23, 1)
  private val isHere = (station === settings.mac || station.andR || settings.isGroupStation(station)) &&
    (settings.isOwn(address) || settings.isGroup(address) || address === settings.broadcast || address.andR)
  private val isVlan = Mux(settings.tagged, tagged && vlan === settings.vlan, !tagged)
  private val isWhole = Bytes.number(later, 14, 1) === 0x45.U && Bytes.number(later, 20, 2)(13, 0) === 0.U
  private val port = Bytes.number(later, 36, 2)
  private val isUdp = protocol === UdpReceive.protocol.U &&
    settings.bindings.map(binding => binding.present && binding.port === port).reduce(_ || _)
  private val isEcho = protocol === IcmpEcho.protocol.U && Bytes.number(later, 34, 1) === echoRequest.U
  private val isOwn = etherType === EthernetReceive.ipv4.U && isHere && isVlan && isWhole && (isUdp || isEcho)
  private val isArp = etherType === EthernetReceive.arp.U
  verdicts.io.enq.valid := judges
  verdicts.io.enq.bits.own := short || isOwn || isArp
  verdicts.io.enq.bits.rest := !short && !isOwn
  assert(!judges || verdicts.io.enq.ready, "a verdict has no place")

  // Each of the two takes a flit once.
  private val verdict = verdicts.io.deq
  private val flit = flits.io.deq
  private val gave = RegInit(VecInit(false.B, false.B))
  private val ports = Seq(own -> verdict.bits.own, rest -> verdict.bits.rest)
  private val done = ports.zip(gave).map { case ((port, wanted), before) => !wanted || before || port.ready }
  for (((port, wanted), before) <- ports.zip(gave)) {
    port.valid := flit.valid && verdict.valid && wanted && !before
    port.bits := flit.bits
  }
  flit.ready := verdict.valid && done.reduce(_ && _)
  verdict.ready := flit.fire && flit.bits.last
  for (((port, _), before) <- ports.zip(gave)) before := !flit.fire && (before || port.fire)
  idle := !flit.valid && !judges
}

object FrameSeparator {

  /** Flits that are looked at: up to the port of UDP behind a tag. */
  private val words = 6
  private val echoRequest = 8

  private class Verdict extends Bundle {
    val own = Bool()
    val rest = Bool()
  }
}
