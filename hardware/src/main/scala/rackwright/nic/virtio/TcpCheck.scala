package rackwright.nic.virtio

import chisel3._
import chisel3.util._

import rackwright.nic.{Flit, Frame, InternetSum}

/** What is known of a frame that waits in the packet buffer. */
class Arrival extends Bundle {
  val length = UInt(Frame.lengthBits.W)

  /** It is a whole TCP segment whose checksum is right. */
  val verified = Bool()
}

/** Checks the checksums of TCP segments on their way into the packet buffer (RFC 9293, RFC 1071): in IPv4 without
  * options and not in fragments, and in IPv6 without extension headers. Of all other frames it says that they are not
  * verified.
  */
class TcpCheck extends Module {
  import TcpCheck._

  /** From the wire. */
  val flit = IO(Input(Valid(new Flit)))

  /** With the last flit of a frame that is kept: its length. */
  val kept = IO(Input(Valid(UInt(Frame.lengthBits.W))))

  /** The same frames, a few cycles later. */
  val arrival = IO(Valid(new Arrival))

  /** No frame is on its way through. */
  val idle = IO(Output(Bool()))

  private val sum = Module(new InternetSum(new Checked))
  private val number = RegInit(0.U(log2Ceil(lastHeaderFlit + 2).W))
  private val four = Reg(Bool())
  private val six = Reg(Bool())

  /** All flits up to this one are as those of a segment that can be checked. */
  private val candidate = Reg(Bool())

  /** Bytes from the next flit to the segment's end. */
  private val left = Reg(UInt(17.W))

  private val bytes = VecInit.tabulate(Frame.flitBytes)(lane => flit.bits.data(8 * lane + 7, 8 * lane))
  private def word(lane: Int): UInt = Cat(bytes(lane), bytes(lane + 1))
  private val full = flit.bits.count === Frame.flitBytes.U
  private val last = flit.bits.last

  // Flit 1: the Ethernet type, the version, and for IPv4 the length of the header. Flit 2: lengths, protocol.
  private val saysFour = word(4) === typeFour.U && bytes(6) === versionFour.U
  private val saysSix = word(4) === typeSix.U && bytes(6)(7, 4) === 6.U
  private val fragment = word(4)(13, 0).orR
  private val fourIsTcp = !fragment && bytes(7) === tcp.U && word(0) >= (fourBytes + leastTcp).U
  private val sixIsTcp = bytes(4) === tcp.U && word(2) >= leastTcp.U
  private val tcpLength = Mux(four, word(0) - fourBytes.U, word(2))
  private val end = tcpLength +& Mux(four, (ethernetBytes + fourBytes).U, (ethernetBytes + sixBytes).U)

  when(flit.valid) {
    number := Mux(last, 0.U, Mux(number > lastHeaderFlit.U, number, number + 1.U))
    candidate := full && Mux(number === 0.U, true.B, candidate)
    left := Mux(left >= Frame.flitBytes.U, left - Frame.flitBytes.U, 0.U)
    when(number === 1.U) {
      four := saysFour
      six := saysSix
      candidate := candidate && full && (saysFour || saysSix)
    }
    when(number === 2.U) {
      candidate := candidate && full && Mux(four, fourIsTcp, sixIsTcp)
      left := end - (3 * Frame.flitBytes).U
    }
  }

  // Addresses begin in flit 2 (IPv6, its last two bytes) or 3 (IPv4, all but its first two).
  private val untilEnd = Mux(left >= Frame.flitBytes.U, everyByte, Flit.firstBytes(left(2, 0)))
  private val summed = MuxLookup(number, untilEnd)(
    Seq(
      0.U -> 0.U,
      1.U -> 0.U,
      2.U -> Mux(six, 0xc0.U, 0.U),
      3.U -> (untilEnd & Mux(four, 0xfc.U, 0xff.U))
    )
  )
  sum.in.valid := flit.valid
  sum.in.bits.data := flit.bits.data
  sum.in.bits.mask := summed & Flit.firstBytes(flit.bits.count)
  sum.in.bits.odd := false.B
  sum.in.bits.first := number === 2.U
  sum.in.bits.initial := tcpLength + tcp.U
  sum.in.bits.along.kept := kept.valid
  sum.in.bits.along.length := kept.bits
  sum.in.bits.along.whole := candidate && number > lastHeaderFlit.U && left <= flit.bits.count
  assert(!sum.in.valid || sum.in.ready, "a flit waits for a sum that nothing holds up")

  sum.out.ready := true.B
  arrival.valid := sum.out.valid && sum.out.bits.along.kept
  arrival.bits.length := sum.out.bits.along.length
  arrival.bits.verified := sum.out.bits.along.whole && sum.out.bits.sum.andR
  idle := sum.idle
}

/** What goes along with a flit that is summed. */
class Checked extends Bundle {
  val kept = Bool()
  val length = UInt(Frame.lengthBits.W)

  /** The segment ends with or before this flit, and can be checked. */
  val whole = Bool()
}

/** Numbers of Ethernet and IP. */
object TcpCheck {
  private val typeFour = 0x0800
  private val typeSix = 0x86dd
  private val tcp = 6

  /** Version 4, and a header of five words. */
  private val versionFour = 0x45
  private val ethernetBytes = 14
  private val fourBytes = 20
  private val sixBytes = 40
  private val leastTcp = 20

  /** The flit in which the last of what is looked at lies, behind which the flits of all segments go on. */
  private val lastHeaderFlit = 3
  private val everyByte = ((1 << Frame.flitBytes) - 1).U(Frame.flitBytes.W)
}
