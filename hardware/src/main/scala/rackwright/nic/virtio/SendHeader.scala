package rackwright.nic.virtio

import chisel3._
import chisel3.util._

import rackwright.network.{Flit, Frame}
import rackwright.nic.port.SendFlit

/** Removes the virtio headers of frames, and passes on the checksums that they request (virtio 1.2, section 5.1.6).
  *
  * Headers may be divided arbitrarily, and every flit may be short. A flit that holds header only costs a cycle.
  *
  * @param flitBytes
  *   bytes of a flit.
  */
class SendHeader(flitBytes: Int) extends Module {
  import SendHeader._

  val in = IO(Flipped(Decoupled(new SendFlit(segments = true, flitBytes))))
  val out = IO(Decoupled(new SendFlit(flitBytes = flitBytes)))

  /** The driver has agreed to request checksums in headers. */
  val checksums = IO(Input(Bool()))

  /** A header has requested a checksum outside its frame, which ends in this cycle. */
  val wrong = IO(Output(Bool()))

  /** No flit is accepted or passed on in this cycle. */
  val idle = IO(Output(Bool()))

  /** Number and contents of the header bytes accepted before. */
  private val before = RegInit(0.U(placeBits.W))
  private val known = RegInit(0.U(headerBits.W))
  private val lengthBefore = RegInit(0.U(Frame.lengthBits.W))

  private val flit = in.bits.flit
  private val headed = in.bits.header.get
  private val missing = Mux(headed, Virtio.headerBytes.U - before, 0.U)
  private val headerOnly = flit.count <= missing
  private val taken = Mux(headerOnly, flit.count, missing.pad(flit.count.getWidth)(flit.count.getWidth - 1, 0))
  private val fresh = flit.data & FillInterleaved(8, Flit.firstBytes(taken, flitBytes))
  private val header = (known | (fresh << Cat(before, 0.U(3.W))))(headerBits - 1, 0)
  private val start = header(startByte * 8 + 15, startByte * 8)
  private val place = start +& header(offsetByte * 8 + 15, offsetByte * 8)
  private val asks = checksums && header(needsChecksumBit)

  private val swallows = headed && headerOnly
  out.valid := in.valid && !swallows
  in.ready := swallows || out.ready
  out.bits.flit.data := flit.data >> Cat(taken, 0.U(3.W))
  out.bits.flit.count := flit.count - taken
  out.bits.flit.last := flit.last
  out.bits.checksum := in.bits.checksum
  when(headed) {
    out.bits.checksum.enable := asks && !place(16)
    out.bits.checksum.start := start
    out.bits.checksum.offset := place(15, 0)
    out.bits.checksum.initial := 0.U
  }

  private val length = lengthBefore + out.bits.flit.count
  wrong := out.fire && flit.last && headed && asks && (start >= length || place +& checksumBytes.U > length)
  idle := !in.fire && !out.fire
  when(in.fire) {
    before := Mux(flit.last || !headed, 0.U, before + taken)
    known := Mux(flit.last || !headed, 0.U, header)
    lengthBefore := Mux(flit.last, 0.U, Mux(swallows, lengthBefore, length))
  }
}

/** The positions of fields in a header. */
object SendHeader {
  private val headerBits = 8 * Virtio.headerBytes
  private val placeBits = log2Ceil(Virtio.headerBytes + 1)

  /** `VIRTIO_NET_HDR_F_NEEDS_CSUM` among the flags. */
  private val needsChecksumBit = 0

  /** First byte summed; position of the checksum relative to it. */
  private val startByte = 6
  private val offsetByte = 8
  private val checksumBytes = 2
}
