package rackwright.internet

import chisel3._
import chisel3.util._

import rackwright.network.{Flit, InternetSum}
import rackwright.stream.SkidBuffer

/** Responds to echo requests with their contents (RFC 792); all other messages are dropped here. */
class IcmpEcho(params: Params) extends Module {
  val in = IO(Flipped(Decoupled(new Piece(new PacketInfo))))
  val out = IO(Decoupled(new Piece(new PacketTarget)))
  val ended = IO(Valid(UInt(Cause.width.W)))
  val idle = IO(Output(Bool()))

  private class Message extends Bundle {
    val packet = new PacketInfo
    val isRequest = Bool()
    val isFirst = Bool()
  }
  private val reader = Module(new HeaderReader(new PacketInfo, 1))
  reader.in <> in
  private val sum = Module(new InternetSum(new Piece(new Message)))
  sum.in.valid := reader.out.valid
  reader.out.ready := sum.in.ready
  private val packet = reader.out.bits.about
  sum.in.bits.data := reader.out.bits.flit.data
  sum.in.bits.mask := Flit.firstBytes(reader.out.bits.flit.count)
  sum.in.bits.odd := false.B
  sum.in.bits.first := reader.index === 0.U
  sum.in.bits.initial := 0.U
  sum.in.bits.along.flit := reader.out.bits.flit
  sum.in.bits.along.about.packet := packet
  sum.in.bits.along.about.isFirst := reader.index === 0.U
  sum.in.bits.along.about.isRequest := Bytes.number(reader.header, 0, 2) === IcmpEcho.request.U &&
    packet.length >= 8.U && !packet.broadcast

  private class Judged extends Bundle {
    val target = new PacketTarget
    val cause = UInt(Cause.width.W)
  }
  private val judged = Wire(Decoupled(new Piece(new Judged)))
  private val message = sum.out.bits.along.about
  private val flit = sum.out.bits.along.flit
  judged.valid := sum.out.valid
  sum.out.ready := judged.ready
  judged.bits.flit := flit
  when(message.isFirst) {
    // The type becomes 0: the checksum has so much more (RFC 1624).
    val checksum = Bytes.number(flit.data, 2, 2) +& IcmpEcho.request.U
    judged.bits.flit.data := Cat(flit.data(63, 32), Bytes.join(0.U(16.W), checksum(15, 0) + checksum(16)))
  }
  judged.bits.about.target.mac := message.packet.frame.source
  judged.bits.about.target.source := message.packet.destination
  judged.bits.about.target.destination := message.packet.source
  judged.bits.about.target.protocol := IcmpEcho.protocol.U
  judged.bits.about.target.length := message.packet.length
  judged.bits.about.cause := Cause.first(
    message.packet.cause,
    !sum.out.bits.sum.andR -> "dropped_icmp_checksum",
    !message.isRequest -> "dropped_icmp"
  )

  private val arrived = SkidBuffer(judged)
  arrived.ready := true.B
  private val buffer = Module(new FrameBuffer(new PacketTarget, params.bufferFlits, IcmpEcho.answers, waits = false))
  buffer.in.valid := arrived.valid
  buffer.in.bits.flit := arrived.bits.flit
  buffer.in.bits.about := arrived.bits.about.target
  buffer.lose := arrived.bits.flit.last && arrived.bits.about.cause =/= Cause.none
  out <> buffer.out
  ended.valid := arrived.valid && arrived.bits.flit.last
  ended.bits := Cause.first(arrived.bits.about.cause, buffer.full -> "dropped_full", true.B -> "echoed")
  idle := !reader.out.valid && sum.idle && !sum.out.valid && !arrived.valid && buffer.idle
}

/** Constants. */
object IcmpEcho {

  /** Number of ICMP in the header of a packet. */
  val protocol: Int = 1

  /** Type and code of an echo request; those of its reply are 0. */
  val request: Int = 0x0800

  /** Answers that wait at most. */
  val answers: Int = 16
}
