package rackwright.internet

import chisel3._
import chisel3.util._

import rackwright.network.{Flit, Frame, InternetSum}
import rackwright.stream.SkidBuffer

/** Passes the data of datagrams to the streams to which their ports are bound (RFC 768), each after a header of 16
  * bytes. A datagram is passed when its checksum is correct and it is complete; without room it is dropped.
  */
class UdpReceive(params: Params) extends Module {
  val in = IO(Flipped(Decoupled(new Piece(new PacketInfo))))
  val settings = IO(Input(new Settings(params)))
  val out = IO(Vec(params.streams, Decoupled(new Flit())))
  val ended = IO(Valid(UInt(Cause.width.W)))

  /** A datagram to this host was dropped because of its port. */
  val unbound = IO(Valid(new UnreachablePacket))
  val idle = IO(Output(Bool()))

  private class Datagram extends Bundle {
    val packet = new PacketInfo
    val ports = UInt(32.W)
    val length = UInt(16.W)
    val checksum = UInt(16.W)
    val bound = Bool()
    val stream = UInt(params.streamBits.W)
  }

  private val reader = Module(new HeaderReader(new PacketInfo, 1))
  reader.in <> in
  private val parsed = Wire(Decoupled(new Piece(new Datagram)))
  parsed.valid := reader.out.valid
  reader.out.ready := parsed.ready
  parsed.bits.flit := reader.out.bits.flit
  private val info = parsed.bits.about
  info.packet := reader.out.bits.about
  info.ports := Bytes.number(reader.header, 0, 4)
  info.length := Bytes.number(reader.header, 4, 2)
  info.checksum := Bytes.number(reader.header, 6, 2)
  private val port = Bytes.number(reader.header, 2, 2)
  private val bound = settings.bindings.map(binding => binding.present && binding.port === port)
  info.bound := bound.reduce(_ || _)
  info.stream := PriorityMux(bound, settings.bindings.map(_.stream))
  when(info.length < 8.U || info.length > info.packet.length) {
    info.packet.frame.cause := Cause.first(reader.out.bits.about.cause, true.B -> "dropped_udp_length")
  }

  private val trimmer = Module(new Trimmer(new Datagram))
  trimmer.in <> SkidBuffer(parsed)
  trimmer.bytes := trimmer.in.bits.about.length

  // Two flits are summed and passed in place of the header: they contain the fields of the pseudo header as well.
  private val trimmed = SkidBuffer(trimmer.out)
  private val at = RegInit(0.U(2.W))
  private val of = trimmed.bits.about
  private val start = Bytes.join(of.packet.source, of.ports)
  private val sum = Module(new InternetSum(new Piece(new Datagram)))
  sum.in.valid := trimmed.valid
  trimmed.ready := sum.in.ready && at =/= 0.U
  when(sum.in.fire) {
    at := Mux(at === 0.U, 1.U, Mux(trimmed.bits.flit.last, 0.U, 2.U))
  }
  sum.in.bits.odd := false.B
  sum.in.bits.first := at === 0.U
  sum.in.bits.initial := of.length + UdpReceive.protocol.U
  private val flit = sum.in.bits.along.flit
  sum.in.bits.along.about := of
  flit := trimmed.bits.flit
  sum.in.bits.data := trimmed.bits.flit.data
  sum.in.bits.mask := Flit.firstBytes(trimmed.bits.flit.count)
  when(at === 0.U) {
    flit.data := start
    flit.count := Frame.flitBytes.U
    flit.last := false.B
    sum.in.bits.data := start
    sum.in.bits.mask := Fill(Frame.flitBytes, 1.U)
  }.elsewhen(at === 1.U) {
    flit.data := Bytes.join(of.packet.destination, of.length - 8.U, 0.U(16.W))
    flit.count := Frame.flitBytes.U
    sum.in.bits.data := Bytes.join(of.packet.destination, of.length, of.checksum)
    sum.in.bits.mask := Fill(Frame.flitBytes, 1.U)
  }

  private class Judged extends Bundle {
    val cause = UInt(Cause.width.W)
    val bound = Bool()
    val stream = UInt(params.streamBits.W)
  }
  private val judged = Wire(Decoupled(new Piece(new Judged)))
  private val datagram = sum.out.bits.along.about
  judged.valid := sum.out.valid
  sum.out.ready := judged.ready
  judged.bits.flit := sum.out.bits.along.flit
  judged.bits.about.bound := datagram.bound
  judged.bits.about.stream := datagram.stream
  judged.bits.about.cause := Cause.first(
    datagram.packet.cause,
    (datagram.checksum =/= 0.U && !sum.out.bits.sum.andR) -> "dropped_udp_checksum",
    !datagram.bound -> "dropped_port"
  )

  private val isUnbound = judged.bits.about.cause === Cause("dropped_port") &&
    UnreachablePacket.isTold(datagram.packet)
  private val header = Bytes.join(datagram.ports, datagram.length, datagram.checksum)
  unbound.valid := RegNext(judged.fire && judged.bits.flit.last && isUnbound, false.B)
  unbound.bits := RegNext(UnreachablePacket.of(datagram.packet, IcmpUnreachable.port, header))

  private val arrived = SkidBuffer(judged)
  arrived.ready := true.B
  private val about = arrived.bits.about
  private val lost = arrived.bits.flit.last && about.cause =/= Cause.none
  private val buffers = Seq.tabulate(params.streams) { i =>
    val buffer = Module(new FrameBuffer(UInt(0.W), params.bufferFlits, UdpReceive.datagrams, waits = false))
    buffer.in.valid := arrived.valid && about.bound && about.stream === i.U
    buffer.in.bits.flit := arrived.bits.flit
    buffer.in.bits.about := 0.U(0.W)
    buffer.lose := lost
    out(i).valid := buffer.out.valid
    out(i).bits := buffer.out.bits.flit
    buffer.out.ready := out(i).ready
    buffer
  }
  private val isFull = buffers.map(buffer => buffer.in.valid && buffer.full).reduce(_ || _)
  ended.valid := arrived.valid && arrived.bits.flit.last
  ended.bits := Cause.first(about.cause, isFull -> "dropped_full")
  idle := !reader.out.valid && !trimmer.in.valid && !trimmed.valid && sum.idle && !sum.out.valid && !arrived.valid &&
    buffers.map(_.idle).reduce(_ && _)
}

/** Constants. */
object UdpReceive {

  /** Number of UDP in the header of a packet. */
  val protocol: Int = 17

  /** Datagrams that a buffer holds at most. */
  val datagrams: Int = 128
}
