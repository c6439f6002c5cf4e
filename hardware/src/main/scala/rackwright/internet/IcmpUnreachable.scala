package rackwright.internet

import chisel3._
import chisel3.util._

/** A datagram to a port that leads nowhere: the headers that its sender gets back. */
class UnboundDatagram extends Bundle {
  val mac = UInt(48.W)
  val source, destination = UInt(32.W)

  /** The first 12 bytes of the header of the packet, which has no options. */
  val start = UInt(96.W)
  val ports = UInt(32.W)
  val length, checksum = UInt(16.W)
}

/** Tells senders that a port is unreachable (RFC 792), with the header of the packet and 8 bytes (RFC 1122, 3.2.2).
  *
  * One message after the other is sent, with an interval between them: what arrives meanwhile is not answered.
  */
class IcmpUnreachable(params: Params) extends Module {
  val unbound = IO(Flipped(Valid(new UnboundDatagram)))
  val settings = IO(Input(new Settings(params)))
  val out = IO(Decoupled(new Piece(new PacketTarget)))

  /** A message begins. */
  val sends = IO(Output(Bool()))
  val idle = IO(Output(Bool()))

  private val holds = RegInit(false.B)
  private val of = Reg(new UnboundDatagram)
  private val timer = RegInit(0.U(settings.unreachable.getWidth.W))
  sends := unbound.valid && !holds && timer === 0.U && settings.unreachable =/= 0.U
  when(timer =/= 0.U) { timer := timer - 1.U }
  when(sends) {
    holds := true.B
    of := unbound.bits
    timer := settings.unreachable
  }

  // The header that comes back has a correct checksum of its own, and thus adds nothing to that of the message.
  private val summed = ShiftRegister(sends, 3, false.B, true.B)
  private val ready = RegInit(false.B)
  private val halves = RegNext(of.ports(31, 16) +& of.ports(15, 0))
  private val others = RegNext(of.length +& of.checksum)
  private val all = RegNext((halves +& others) +& IcmpUnreachable.port.U)
  private val folded = all(15, 0) +& (all >> 16)
  private val checksum = ~(folded(15, 0) + folded(16))
  when(summed) { ready := true.B }

  private val message = Bytes.join(
    IcmpUnreachable.port.U(16.W),
    checksum,
    0.U(32.W),
    of.start,
    of.source,
    of.destination,
    of.ports,
    of.length,
    of.checksum
  )
  private val flits = message.pad(64 * IcmpUnreachable.flits).asTypeOf(Vec(IcmpUnreachable.flits, UInt(64.W)))
  private val at = RegInit(0.U(log2Ceil(IcmpUnreachable.flits).W))
  private val last = at === (IcmpUnreachable.flits - 1).U
  out.valid := ready
  out.bits.flit.data := flits(at)
  out.bits.flit.count := Mux(last, (IcmpUnreachable.bytes % 8).U, 8.U)
  out.bits.flit.last := last
  out.bits.about.mac := of.mac
  out.bits.about.source := of.destination
  out.bits.about.destination := of.source
  out.bits.about.protocol := IcmpEcho.protocol.U
  out.bits.about.length := IcmpUnreachable.bytes.U
  when(out.fire) {
    at := Mux(last, 0.U, at + 1.U)
    when(last) {
      ready := false.B
      holds := false.B
    }
  }
  idle := !holds && timer === 0.U
}

/** Constants. */
object IcmpUnreachable {

  /** Type and code: a port is unreachable. */
  val port: Int = 0x0303

  /** Bytes of a message. */
  val bytes: Int = 8 + 20 + 8
  private val flits: Int = (bytes + 7) / 8
}
