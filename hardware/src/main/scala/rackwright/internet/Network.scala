package rackwright.internet

import chisel3._
import chisel3.util._

import rackwright.network.{Flit, Frame}
import rackwright.port.StreamFlit
import rackwright.stream.{FrameArbiter, SkidBuffer}
import rackwright.unit.{Attach, HardwareUnit}

/** A network stack between frames and the data of datagrams. README.md is the contract. */
class Network(params: Params) extends HardwareUnit {
  override def attach: Seq[Attach] = Seq.empty
  val mmio = mmioPort(Registers.of(params))
  val networkOut = streamOutput(Frame.flitBytes).suggestName("network_out")
  val networkIn = streamInput(Frame.flitBytes).suggestName("network_in")
  private val networkRest =
    Option.when(params.shared)(streamOutput(Frame.flitBytes).suggestName("network_rest"))
  private val echoes = if (params.echo) 1 else 0
  private val outputs =
    Seq.range(echoes, params.streams).map(i => streamOutput(Frame.flitBytes).suggestName(s"stream_out_$i"))
  private val inputs =
    Seq.range(echoes, params.streams).map(i => streamInput(Frame.flitBytes).suggestName(s"stream_in_$i"))
  val idle = idlePort()

  private val registers = Module(new RegisterFile(params))
  private val counters = Module(new Counters)
  private val settings = registers.settings
  registers.mmio <> mmio
  registers.counters := counters.values

  private val ethernetReceive = Module(new EthernetReceive(params))
  private val arpReceive = Module(new ArpReceive(params))
  private val ipv4Receive = Module(new Ipv4Receive(params))
  private val senderLimit = Module(new SenderLimit(params))
  private val icmp = Module(new IcmpEcho(params))
  private val udpReceive = Module(new UdpReceive(params))
  private val unknown = Module(new UnknownProtocol)
  private val unreachable = Module(new IcmpUnreachable(params))
  private val udpSends = Seq.fill(params.streams)(Module(new UdpSend(params)))
  private val resolver = Module(new Resolver(params))
  private val udpHeader = Module(new UdpHeader)
  private val ipv4Send = Module(new Ipv4Send(params))
  private val arpSend = Module(new ArpSend(params))
  private val ethernetSend = Module(new EthernetSend(params))

  // From the network.
  private val arrived = SkidBuffer(networkIn)
  private val separator = networkRest.map(_ => Module(new FrameSeparator(params)))
  private val entry = separator.map(_.in).getOrElse(ethernetReceive.in)
  entry.valid := arrived.valid
  entry.bits := Flit.fromWire(arrived.bits)
  arrived.ready := entry.ready
  private val passes = for ((port, box) <- networkRest.zip(separator)) yield {
    box.settings := settings
    ethernetReceive.in <> box.own
    val others = SkidBuffer(box.rest)
    port.valid := others.valid
    port.bits := Flit.onWire(others.bits)
    others.ready := port.ready
    !box.idle || others.valid
  }
  arpReceive.in <> ethernetReceive.arp
  ipv4Receive.in <> ethernetReceive.ipv4
  senderLimit.in <> ipv4Receive.out
  private val reassembly = Option.when(params.reassembly > 0)(Module(new Reassembly(params)))
  private val packet = reassembly.map(_.out).getOrElse(senderLimit.out)
  reassembly.foreach { box =>
    box.in <> senderLimit.out
    box.settings := settings
  }
  private val isUdp = packet.bits.about.protocol === UdpReceive.protocol.U
  private val isIcmp = packet.bits.about.protocol === IcmpEcho.protocol.U
  private val isOther = !isUdp && !isIcmp
  for ((box, chosen) <- Seq(udpReceive.in -> isUdp, icmp.in -> isIcmp, unknown.in -> isOther)) {
    box.valid := packet.valid && chosen
    box.bits := packet.bits
  }
  packet.ready := Mux(isUdp, udpReceive.in.ready, isOther || icmp.in.ready)

  // To the network.
  private def inTurn[T <: Data](about: T, sources: Int) =
    new FrameArbiter(new Piece(about), sources, (piece: Piece[T]) => piece.flit.last)
  private val datagrams = Module(inTurn(new DatagramTarget, params.streams))
  private val packets = Module(inTurn(new PacketTarget, 3))
  private val frames = Module(inTurn(new FrameTarget, 2))
  datagrams.in.zip(udpSends).foreach { case (source, box) => source <> box.out }
  resolver.in <> datagrams.out
  resolver.learnt := arpReceive.learnt
  resolver.flush := registers.flush
  udpHeader.in <> resolver.out
  packets.in(0) <> udpHeader.out
  packets.in(1) <> icmp.out
  packets.in(2) <> unreachable.out
  unreachable.packet := Mux(udpReceive.unbound.valid, udpReceive.unbound, unknown.unreachable)
  ipv4Send.in <> packets.out
  private val reply = arpSend.reply
  reply.valid := arpReceive.reply.valid
  reply.bits := arpReceive.reply.bits
  arpSend.query <> resolver.query
  frames.in(0) <> ipv4Send.out
  frames.in(1) <> arpSend.out
  ethernetSend.in <> frames.out
  networkOut.valid := ethernetSend.out.valid
  networkOut.bits := Flit.onWire(ethernetSend.out.bits)
  ethernetSend.out.ready := networkOut.ready

  // Streams of data: one that echoes leads from the buffer of received data to that of data to send.
  for (i <- 0 until params.streams) {
    val (received, sends) = (udpReceive.out(i), udpSends(i).in)
    val wire = Wire(Decoupled(new StreamFlit(Frame.flitBytes)))
    wire.valid := received.valid
    wire.bits := Flit.onWire(received.bits)
    received.ready := wire.ready
    if (i < echoes) {
      sends <> wire
    } else {
      outputs(i - echoes) <> wire
      sends <> SkidBuffer(inputs(i - echoes))
    }
  }

  ethernetReceive.settings := settings
  arpReceive.settings := settings
  ipv4Receive.settings := settings
  senderLimit.settings := settings
  udpReceive.settings := settings
  udpSends.foreach(_.settings := settings)
  resolver.settings := settings
  unreachable.settings := settings
  arpSend.settings := settings
  ethernetSend.settings := settings

  private val refused = Seq(senderLimit.ended, unknown.ended)
  private val endings = (refused ++ Seq(ethernetReceive.ended, arpReceive.ended, icmp.ended, udpReceive.ended) ++
    reassembly.toSeq.flatMap(_.ended)).map(end => RegNext(end, 0.U.asTypeOf(end)))
  private def counted(flags: Bool*): UInt = PopCount(flags)
  private val sendRefused = udpSends.map(_.refused)
  private val amounts = Seq(counted(arrived.fire && arrived.bits.last)) ++
    Cause.names.map(name => counted(endings.map(end => end.valid && end.bits === Cause(name)): _*)) ++
    Seq(
      counted(networkOut.fire && networkOut.bits.last),
      counted(resolver.sent),
      counted(sendRefused: _*),
      counted(resolver.noRoute),
      counted(resolver.noRoom),
      counted(resolver.unresolved),
      counted(resolver.query.fire),
      counted(reply.fire),
      counted(reply.valid && !reply.ready),
      counted(unreachable.sends),
      reassembly.map(box => counted(box.assembled)).getOrElse(0.U),
      reassembly.map(box => counted(box.abandoned: _*)).getOrElse(0.U),
      counted(ipv4Send.sendsFragment)
    )
  counters.amounts.zip(amounts).foreach { case (counter, amount) => counter := amount }
  Counters.names.zip(amounts).foreach { case (name, amount) => event(name, amount) }

  idle := !arrived.valid && ethernetReceive.idle && arpReceive.idle && ipv4Receive.idle && senderLimit.idle && icmp.idle &&
    unreachable.idle &&
    udpReceive.idle && udpSends.map(box => box.idle && !box.in.valid).reduce(
      _ && _
    ) && resolver.idle && udpHeader.idle && ipv4Send.idle &&
    arpSend.idle && ethernetSend.idle && registers.idle && counters.idle
  when(endings.map(_.valid).reduce(_ || _) || reassembly.map(!_.idle).getOrElse(false.B)) { idle := false.B }
  passes.foreach(busy => when(busy) { idle := false.B })
}
