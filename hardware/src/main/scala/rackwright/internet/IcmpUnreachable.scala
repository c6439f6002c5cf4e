package rackwright.internet

import chisel3._
import chisel3.util._

/** A packet that nobody here takes: what its sender gets back of it. */
class UnreachablePacket extends Bundle {
  val mac = UInt(48.W)
  val source, destination = UInt(32.W)

  /** The first 12 bytes of the header of the packet, which has no options. */
  val start = UInt(96.W)

  /** The first bytes after the header, as they are, and zeros; there may be fewer than eight. */
  val data = UInt(64.W)
  val bytes = UInt(4.W)

  /** Type and code of the message. */
  val code = UInt(16.W)
}

object UnreachablePacket {

  /** Whether the sender of a packet may be told: not if it is for many (RFC 1122, 3.2.2), or has options. */
  private[internet] def isTold(packet: PacketInfo): Bool = !packet.broadcast && packet.headerBytes === 20.U

  /** The packet, whose `data` begin so. */
  private[internet] def of(packet: PacketInfo, code: Int, data: UInt): UnreachablePacket = {
    val told = Wire(new UnreachablePacket)
    told.mac := packet.frame.source
    told.source := packet.source
    told.destination := packet.destination
    told.start := packet.start
    told.data := data
    told.bytes := Mux(packet.length < 8.U, packet.length, 8.U)
    told.code := code.U
    told
  }
}

/** Tells senders that a port or a protocol is unreachable (RFC 792), with the header of the packet and up to 8 bytes
  * (RFC 1122, 3.2.2).
  *
  * One message after the other is sent, with an interval between them: what arrives meanwhile is not answered.
  */
class IcmpUnreachable(params: Params) extends Module {
  val packet = IO(Flipped(Valid(new UnreachablePacket)))
  val settings = IO(Input(new Settings(params)))
  val out = IO(Decoupled(new Piece(new PacketTarget)))

  /** A message begins. */
  val sends = IO(Output(Bool()))
  val idle = IO(Output(Bool()))

  private val holds = RegInit(false.B)
  private val of = Reg(new UnreachablePacket)
  private val timer = RegInit(0.U(settings.unreachable.getWidth.W))
  sends := packet.valid && !holds && timer === 0.U && settings.unreachable =/= 0.U
  when(timer =/= 0.U) { timer := timer - 1.U }
  when(sends) {
    holds := true.B
    of := packet.bits
    timer := settings.unreachable
  }

  // The header that comes back has a correct checksum of its own, and thus adds nothing to that of the message.
  private val summed = ShiftRegister(sends, 3, false.B, true.B)
  private val ready = RegInit(false.B)
  private def half(at: Int): UInt = Bytes.number(of.data, at, 2)
  private val halves = RegNext(half(0) +& half(2))
  private val others = RegNext(half(4) +& half(6))
  private val all = RegNext((halves +& others) +& of.code)
  private val folded = all(15, 0) +& (all >> 16)
  private val checksum = ~(folded(15, 0) + folded(16))
  when(summed) { ready := true.B }

  private val headers = Bytes.join(of.code, checksum, 0.U(32.W), of.start, of.source, of.destination)
  private val message = Cat(of.data, headers)
  private val flits = message.pad(64 * IcmpUnreachable.flits).asTypeOf(Vec(IcmpUnreachable.flits, UInt(64.W)))
  private val at = RegInit(0.U(log2Ceil(IcmpUnreachable.flits).W))
  private val isShort = of.bytes <= 4.U
  private val last = at === Mux(isShort, (IcmpUnreachable.flits - 2).U, (IcmpUnreachable.flits - 1).U)
  out.valid := ready
  out.bits.flit.data := flits(at)
  out.bits.flit.count := Mux(last, Mux(isShort, of.bytes + 4.U, of.bytes - 4.U), 8.U)
  out.bits.flit.last := last
  out.bits.about.mac := of.mac
  out.bits.about.source := of.destination
  out.bits.about.destination := of.source
  out.bits.about.protocol := IcmpEcho.protocol.U
  out.bits.about.length := IcmpUnreachable.headerBytes.U +& of.bytes
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

  /** Type and code: a protocol or a port is unreachable. */
  val protocol: Int = 0x0302
  val port: Int = 0x0303

  /** Bytes of a message before those of the packet's data. */
  private val headerBytes: Int = 8 + 20
  private val flits: Int = (headerBytes + 8 + 7) / 8
}
