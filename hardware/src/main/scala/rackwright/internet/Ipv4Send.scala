package rackwright.internet

import chisel3._
import chisel3.util._

import rackwright.stream.SkidBuffer

/** The parameters of an IP packet to send. */
class PacketTarget extends Bundle {
  val mac = UInt(48.W)
  val source, destination = UInt(32.W)
  val protocol = UInt(8.W)

  /** Bytes after the header. */
  val length = UInt(16.W)
}

/** The part of a message that a packet has. */
class PacketPart extends Bundle {
  val target = new PacketTarget

  /** That of all parts of the message; 0 for a message in one packet (RFC 6864). */
  val identification = UInt(16.W)
  val isWhole = Bool()
  val more = Bool()

  /** In units of 8 bytes. */
  val offset = UInt(13.W)
}

/** Prepends the header of an IP packet to each message, or to the parts of a long one (RFC 791), with a time to live of
  * 64 hops. Its checksum takes three cycles before the header.
  */
class Ipv4Send(params: Params) extends Module {
  val in = IO(Flipped(Decoupled(new Piece(new PacketTarget))))
  val out = IO(Decoupled(new Piece(new FrameTarget)))

  /** A part of a message leaves that has several. */
  val sendsFragment = IO(Output(Bool()))
  val idle = IO(Output(Bool()))

  private val fragmenter = Module(new Fragmenter(params))
  fragmenter.in <> SkidBuffer(in)
  private val waiting = fragmenter.out
  private val part = waiting.bits.about
  private val target = part.target
  private val marks = Cat(0.U(1.W), part.isWhole, part.more, part.offset)
  sendsFragment := waiting.fire && waiting.bits.flit.last && !part.isWhole
  private val total = target.length + 20.U
  private val fixed = Cat(64.U(8.W), target.protocol)

  // Words of the header are added two by two; a frame waits at `waiting` as long.
  private val step = RegInit(0.U(2.W))
  private val ready = step === 3.U
  private val (own, theirs, others) = (Reg(UInt(17.W)), Reg(UInt(17.W)), Reg(UInt(18.W)))
  private val place = Reg(UInt(17.W))
  private val all = Reg(UInt(20.W))
  private val sum = Reg(UInt(16.W))
  own := target.source(31, 16) +& target.source(15, 0)
  theirs := target.destination(31, 16) +& target.destination(15, 0)
  others := (total +& fixed) +& 0x4500.U
  place := part.identification +& marks
  all := (own +& theirs) +& (others +& place)
  private val folded = all(15, 0) +& all(19, 16)
  sum := folded(15, 0) + folded(16)

  private val prepender = Module(new Prepender(new PacketPart, 20))
  private val length = Reg(UInt(16.W))
  length := total
  prepender.header := Bytes.join(
    0x4500.U(16.W),
    length,
    part.identification,
    marks,
    fixed,
    ~sum,
    target.source,
    target.destination
  )
  prepender.bytes := 20.U
  prepender.in.valid := waiting.valid && ready
  prepender.in.bits := waiting.bits
  waiting.ready := ready && prepender.in.ready
  when(waiting.valid && !ready) { step := step + 1.U }
  when(waiting.fire && waiting.bits.flit.last) { step := 0.U }

  private val queued = SkidBuffer(prepender.out)
  out.valid := queued.valid
  queued.ready := out.ready
  out.bits.flit := queued.bits.flit
  out.bits.about.mac := queued.bits.about.target.mac
  out.bits.about.isArp := false.B
  idle := !waiting.valid && prepender.idle && !queued.valid
}
