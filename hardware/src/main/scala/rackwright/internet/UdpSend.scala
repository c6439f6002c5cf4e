package rackwright.internet

import chisel3._
import chisel3.util._

import rackwright.network.{Flit, Frame, InternetSum}
import rackwright.port.StreamFlit

/** The properties of a datagram to send. */
class DatagramTarget extends Bundle {
  val source, destination = UInt(32.W)

  /** The source's and the destination's. */
  val ports = UInt(32.W)

  /** Bytes of data. */
  val length = UInt(16.W)
  val checksum = UInt(16.W)
}

/** Accepts datagrams from a stream, each after a header of 16 bytes, and computes their checksums (RFC 768).
  *
  * A datagram whose length differs from its header, or exceeds the maximum, is refused completely.
  */
class UdpSend(params: Params) extends Module {
  val in = IO(Flipped(Decoupled(new StreamFlit(Frame.flitBytes))))
  val settings = IO(Input(new Settings(params)))
  val out = IO(Decoupled(new Piece(new DatagramTarget)))
  val refused = IO(Output(Bool()))
  val idle = IO(Output(Bool()))

  private class Sent extends Bundle {
    val target = new DatagramTarget
    val isData = Bool()
    val wrong = Bool()
  }

  private val reader = Module(new HeaderReader(Bool(), 2))
  reader.in.valid := in.valid
  in.ready := reader.in.ready
  reader.in.bits.flit := Flit.fromWire(in.bits)
  reader.in.bits.about := false.B
  private val header = reader.header
  private val flit = reader.out.bits.flit
  private val length = Bytes.number(header, 12, 2)

  // Number of bytes so far, and whether the length cannot be correct any more.
  private val counted = RegInit(0.U(17.W))
  private val wrong = RegInit(false.B)
  private val isData = reader.index === 2.U
  private val total = counted + Mux(isData, flit.count, 0.U)
  private val isCut = !isData && flit.count =/= Frame.flitBytes.U || reader.index === 0.U && flit.last
  private val tooLong = reader.index =/= 0.U && (length > params.mostData.U || total > length)
  private val isWrong = wrong || isCut || tooLong || flit.last && total =/= length
  when(reader.out.fire) {
    counted := Mux(flit.last, 0.U, total)
    wrong := !flit.last && isWrong
  }

  // One of our addresses, if the header has one.
  private val claimed = Bytes.number(flit.data, 0, 4)
  private val chosen = Mux(settings.isOwn(claimed), claimed, settings.address)
  private val source = RegEnable(chosen, reader.index === 1.U)

  private val sum = Module(new InternetSum(new Piece(new Sent)))
  sum.in.valid := reader.out.valid
  reader.out.ready := sum.in.ready
  sum.in.bits.data := flit.data
  sum.in.bits.mask := Flit.firstBytes(flit.count)
  sum.in.bits.odd := false.B
  sum.in.bits.first := reader.index === 0.U
  // Protocol, and twice the length of the UDP header; that of the data is twice in the second flit.
  sum.in.bits.initial := (UdpReceive.protocol + 16).U
  when(reader.index === 1.U) { sum.in.bits.data := Bytes.join(chosen, length, length) }
  private val along = sum.in.bits.along
  along.flit := flit
  when(!isData) { along.flit.count := 0.U }
  along.about.isData := isData
  along.about.wrong := isWrong
  along.about.target.source := Mux(reader.index === 1.U, chosen, source)
  along.about.target.destination := Bytes.number(header, 0, 4)
  along.about.target.ports := Cat(Bytes.number(header, 6, 2), Bytes.number(header, 4, 2))
  along.about.target.length := length
  along.about.target.checksum := 0.U

  private val buffer = Module(new FrameBuffer(new DatagramTarget, params.bufferFlits, UdpSend.datagrams, waits = true))
  private val summed = sum.out.bits.along
  // A datagram without data is an empty flit.
  private val gives = summed.about.isData || summed.flit.last
  buffer.in.valid := sum.out.valid && gives
  sum.out.ready := buffer.in.ready || !gives
  buffer.in.bits.flit := summed.flit
  buffer.in.bits.about := summed.about.target
  // A checksum of 0 would mean that there is none.
  buffer.in.bits.about.checksum := Mux(sum.out.bits.sum.andR, 0xffff.U, ~sum.out.bits.sum)
  buffer.lose := summed.about.wrong
  out <> buffer.out
  refused := sum.out.fire && summed.flit.last && summed.about.wrong
  idle := !reader.out.valid && sum.idle && !sum.out.valid && buffer.idle
}

/** Constants. */
object UdpSend {

  /** Datagrams of a stream that wait at most. */
  val datagrams: Int = 16
}
