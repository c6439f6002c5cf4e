package rackwright.internet

import chisel3._
import chisel3.util._

/** Generates ARP requests and replies, a few of which wait here. */
class ArpSend(params: Params) extends Module {
  val query = IO(Flipped(Decoupled(UInt(32.W))))
  val reply = IO(Flipped(Decoupled(new ArpMessage)))
  val settings = IO(Input(new Settings(params)))
  val out = IO(Decoupled(new Piece(new FrameTarget)))
  val idle = IO(Output(Bool()))

  private val everybody = ((BigInt(1) << 48) - 1).U(48.W)
  private val arbiter = Module(new RRArbiter(new ArpMessage, 2))
  private val queries = Queue(query, 2)
  arbiter.io.in(0) <> Queue(reply, ArpSend.replies)
  arbiter.io.in(1).valid := queries.valid
  arbiter.io.in(1).bits.isReply := false.B
  arbiter.io.in(1).bits.mac := everybody
  arbiter.io.in(1).bits.own := settings.address
  arbiter.io.in(1).bits.address := queries.bits
  queries.ready := arbiter.io.in(1).ready

  private val message = Queue(arbiter.io.out, 1, pipe = true)
  private val at = RegInit(0.U(2.W))
  private val operation = Mux(message.bits.isReply, ArpPacket.reply.U(16.W), ArpPacket.request.U(16.W))
  private val targetMac = Mux(message.bits.isReply, message.bits.mac, 0.U)
  private val packet = Bytes.join(
    ArpPacket.start.U(48.W),
    operation,
    settings.mac,
    message.bits.own,
    targetMac,
    message.bits.address
  )
  private val last = at === 3.U
  out.valid := message.valid
  message.ready := out.ready && last
  out.bits.about.mac := message.bits.mac
  out.bits.about.isArp := true.B
  out.bits.flit.data := packet.pad(256).asTypeOf(Vec(4, UInt(64.W)))(at)
  out.bits.flit.count := Mux(last, 4.U, 8.U)
  out.bits.flit.last := last
  when(out.fire) { at := at + 1.U }
  idle := !arbiter.io.in(0).valid && !queries.valid && !message.valid
}

/** Sizes. */
object ArpSend {

  /** Answers that wait; others are lost. */
  val replies: Int = 4
}
