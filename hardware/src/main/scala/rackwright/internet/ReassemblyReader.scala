package rackwright.internet

import chisel3._
import chisel3.util._

import rackwright.network.Frame

/** Reads whole datagrams out of the memory of a [[Reassembler]], a flit per cycle. */
class ReassemblyReader(params: Params) extends Module {
  private val places = params.reassembly
  private val flitBits = Fragment.placeBits(params) - 1
  val entries = IO(Input(Vec(places, new Assembly(params))))

  /** What is read; `word` follows in the next cycle. */
  val entry = IO(Output(UInt((log2Ceil(places) max 1).W)))
  val address = IO(Output(UInt(flitBits.W)))
  val reads = IO(Output(Bool()))
  val word = IO(Input(UInt(64.W)))
  val out = IO(Decoupled(new Piece(new PacketInfo)))

  /** A datagram begins, or has left: that of `entry`. */
  val begins = IO(Output(Bool()))
  val done = IO(Output(Bool()))

  private val busy = RegInit(false.B)
  private val of = RegInit(0.U(entry.getWidth.W))
  private val packet = Reg(new PacketInfo)
  private val (at, sent, last) = (Reg(UInt(flitBits.W)), Reg(UInt(flitBits.W)), Reg(UInt(flitBits.W)))
  private val allRead = Reg(Bool())
  entry := of
  address := at

  private val whole = VecInit(entries.map(_.whole))
  private val chosen = entries(PriorityEncoder(whole))
  begins := !busy && whole.asUInt.orR
  when(begins) {
    busy := true.B
    of := PriorityEncoder(whole)
    packet := chosen.packet
    packet.length := chosen.bytes
    at := 0.U
    sent := 0.U
    last := chosen.flits - 1.U
    allRead := false.B
  }

  // The memory responds one cycle later: it is only read if there is room for the result.
  private val ahead = Module(new Queue(UInt(64.W), FrameBuffer.readAhead))
  private val arriving = RegNext(reads, false.B)
  reads := busy && !allRead && ahead.io.count +& arriving < FrameBuffer.readAhead.U
  when(reads) {
    at := at + 1.U
    allRead := at === last
  }
  ahead.io.enq.valid := arriving
  ahead.io.enq.bits := word

  private val rest = packet.length(log2Ceil(Frame.flitBytes) - 1, 0)
  private val isLast = sent === last
  out.valid := ahead.io.deq.valid
  ahead.io.deq.ready := out.ready
  out.bits.flit.data := ahead.io.deq.bits
  out.bits.flit.last := isLast
  out.bits.flit.count := Mux(isLast && rest =/= 0.U, rest, Frame.flitBytes.U)
  out.bits.about := packet
  done := out.fire && isLast
  when(out.fire) { sent := sent + 1.U }
  when(done) { busy := false.B }
}
