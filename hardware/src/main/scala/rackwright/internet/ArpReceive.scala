package rackwright.internet

import chisel3._
import chisel3.util._

/** Parses ARP packets: the sender's addresses are learnt, and a request for us is answered (RFC 826). */
class ArpReceive(params: Params) extends Module {
  val in = IO(Flipped(Decoupled(new Piece(new FrameInfo))))
  val settings = IO(Input(new Settings(params)))
  val learnt = IO(Valid(new ArpPair))

  /** A reply to send, in this cycle or never: a station whose request is dropped repeats it. */
  val reply = IO(Valid(new ArpMessage))
  val ended = IO(Valid(UInt(Cause.width.W)))
  val idle = IO(Output(Bool()))

  private val words = (ArpPacket.bytes + 7) / 8
  private val reader = Module(new HeaderReader(new FrameInfo, words))
  reader.in <> in
  reader.out.ready := true.B
  private val header = reader.header
  private val flit = reader.out.bits.flit
  private val operation = Bytes.number(header, 6, 2)

  private class Found extends Bundle {
    val good = Bool()
    val asks = Bool()
    val senderMac = UInt(48.W)
    val sender = UInt(32.W)
    val target = UInt(32.W)
  }

  // Compared values are first stored in registers.
  private val found = Reg(new Found)
  private val ends = RegInit(false.B)
  ends := reader.out.valid && flit.last
  private val whole = reader.index > (words - 1).U || (reader.index === (words - 1).U && flit.count >= 4.U)
  found.good := whole && Bytes.number(header, 0, 6) === ArpPacket.start.U &&
    (operation === ArpPacket.request.U || operation === ArpPacket.reply.U)
  found.asks := operation === ArpPacket.request.U
  found.senderMac := Bytes.number(header, 8, 6)
  found.sender := Bytes.number(header, 14, 4)
  found.target := Bytes.number(header, 24, 4)

  private val forUs = settings.isOwn(found.target)
  private val spoofed = settings.isOwn(found.sender) || found.sender.andR || found.senderMac(40)
  private val good = found.good && !spoofed

  // A station that checks whether its address is free sends 0 as its own (RFC 5227).
  learnt.valid := ends && good && found.sender =/= 0.U
  learnt.bits.mac := found.senderMac
  learnt.bits.address := found.sender
  learnt.bits.isNew := forUs
  reply.valid := ends && good && found.asks && forUs
  reply.bits.isReply := true.B
  reply.bits.mac := found.senderMac
  reply.bits.own := found.target
  reply.bits.address := found.sender
  ended.valid := ends
  ended.bits := Mux(good, Cause("arp"), Cause("dropped_arp"))
  idle := !reader.out.valid && !ends
}
