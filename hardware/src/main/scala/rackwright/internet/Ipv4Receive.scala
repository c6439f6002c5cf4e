package rackwright.internet

import chisel3._
import chisel3.util._

import rackwright.network.{Flit, InternetSum}
import rackwright.stream.SkidBuffer

/** The headers of an IP packet. */
class PacketInfo extends Bundle {
  val frame = new FrameInfo
  val source = UInt(32.W)
  val destination = UInt(32.W)

  /** It is for all hosts, or for a group. */
  val broadcast = Bool()
  val protocol = UInt(8.W)

  /** The first 12 bytes of the header, as they are. */
  val start = UInt(96.W)

  /** Bytes of the header, and after it. */
  val headerBytes = UInt(6.W)
  val length = UInt(16.W)

  /** The error; valid with the last flit. */
  def cause: UInt = frame.cause

  /** The fields of the header about fragments; offsets are in units of 8 bytes. */
  def identification: UInt = start(63, 48)
  def moreFragments: Bool = start(45)
  def fragmentOffset: UInt = start(44, 32)
  def isFragment: Bool = moreFragments || fragmentOffset =/= 0.U
}

/** Removes the header of an IP packet and the padding after it (RFC 791): options are skipped, and errors are reported
  * with the last flit.
  */
class Ipv4Receive(params: Params) extends Module {
  val in = IO(Flipped(Decoupled(new Piece(new FrameInfo))))
  val settings = IO(Input(new Settings(params)))
  val out = IO(Decoupled(new Piece(new PacketInfo)))
  val idle = IO(Output(Bool()))

  private val reader = Module(new HeaderReader(new FrameInfo, 3))
  reader.in <> in
  private val header = reader.header
  private val total = Bytes.number(header, 2, 2)
  private val (source, destination) = (Bytes.number(header, 12, 4), Bytes.number(header, 16, 4))

  private val trimmer = Module(new Trimmer(new PacketInfo))
  private val parsed = Wire(Decoupled(new Piece(new PacketInfo)))
  parsed.valid := reader.out.valid
  reader.out.ready := parsed.ready
  parsed.bits.flit := reader.out.bits.flit
  private val info = parsed.bits.about
  info.frame := reader.out.bits.about
  info.source := source
  info.destination := destination
  info.protocol := Bytes.number(header, 9, 1)
  info.headerBytes := Cat(header(3, 0), 0.U(2.W))
  // The length of the packet so far; the header is subtracted below.
  info.length := total
  info.broadcast := destination.andR || destination === settings.broadcast || settings.isGroup(destination)
  info.start := Bytes.number(header, 0, 12)
  private val refusesFragments = (params.reassembly == 0).B
  private val firstByte = source(31, 24)
  private val wrongSource = settings.isOwn(source) || source === settings.broadcast ||
    firstByte === 0.U || firstByte === 127.U || firstByte >= 224.U
  // A frame to many must also be a packet to many (RFC 1122, 3.3.6).
  private val wrongDestination =
    Mux(settings.isOwn(destination), reader.out.bits.about.broadcast, !info.broadcast)
  info.frame.cause := Cause.first(
    reader.out.bits.about.cause,
    (header(7, 4) =/= 4.U || header(3, 0) < 5.U) -> "dropped_header",
    (info.isFragment && refusesFragments) -> "dropped_fragment",
    wrongSource -> "dropped_source",
    wrongDestination -> "dropped_destination"
  )
  trimmer.in <> SkidBuffer(parsed)
  trimmer.bytes := trimmer.in.bits.about.length

  private class Summed extends Bundle {
    val piece = new Piece(new PacketInfo)
    val short = Bool()
  }
  private val sum = Module(new InternetSum(new Summed))
  private val trimmed = trimmer.out
  private val at = RegInit(0.U(4.W))
  when(trimmed.fire) { at := Mux(trimmed.bits.flit.last, 0.U, Mux(at(3), at, at + 1.U)) }
  sum.in.valid := trimmed.valid
  trimmed.ready := sum.in.ready
  sum.in.bits.data := trimmed.bits.flit.data
  sum.in.bits.mask := VecInit((0 until 8).map(i => at ## i.U(3.W) < trimmed.bits.about.headerBytes)).asUInt &
    Flit.firstBytes(trimmed.bits.flit.count)
  sum.in.bits.odd := false.B
  sum.in.bits.first := at === 0.U
  sum.in.bits.initial := 0.U
  sum.in.bits.along.piece := trimmed.bits
  sum.in.bits.along.short := trimmer.short

  private val stripper = Module(new Stripper(new PacketInfo, 60))
  private val checked = Wire(Decoupled(new Piece(new PacketInfo)))
  checked.valid := sum.out.valid
  sum.out.ready := checked.ready
  checked.bits := sum.out.bits.along.piece
  private val before = sum.out.bits.along.piece.about
  checked.bits.about.length := before.length - before.headerBytes
  private val wrong = before.cause
  when(wrong =/= Cause("dropped_header")) {
    when(sum.out.bits.along.short) {
      checked.bits.about.frame.cause := Cause("dropped_length")
    }.elsewhen(!sum.out.bits.sum.andR) {
      checked.bits.about.frame.cause := Cause("dropped_checksum")
    }
  }
  stripper.in <> SkidBuffer(checked)
  stripper.bytes := stripper.in.bits.about.headerBytes
  private val stripped = Wire(Decoupled(new Piece(new PacketInfo)))
  stripped <> stripper.out
  when(stripper.cut && stripper.out.bits.about.cause =/= Cause("dropped_header")) {
    stripped.bits.about.frame.cause := Cause("dropped_length")
  }
  out <> SkidBuffer(stripped)
  idle := !reader.out.valid && !trimmer.in.valid && sum.idle && !sum.out.valid && !stripper.in.valid &&
    stripper.idle && !out.valid
}
