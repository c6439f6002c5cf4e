package rackwright.nic.virtio

import chisel3._
import chisel3.util._

import rackwright.network.{Flit, Frame, InternetSum}

/** The properties of a frame that waits in the packet buffer. */
class Arrival extends Bundle {
  val length = UInt(Frame.lengthBits.W)

  /** It is a complete TCP segment with a correct checksum. */
  val verified = Bool()
}

/** Verifies the checksums of TCP segments that enter the packet buffer (RFC 9293, RFC 1071): in IPv4 without options
  * and fragments, and in IPv6 without extension headers. All other frames are reported as not verified.
  *
  * @param flitBytes
  *   bytes of a flit.
  */
class TcpCheck(flitBytes: Int) extends Module {
  import TcpCheck._

  /** From the wire. */
  val flit = IO(Input(Valid(new Flit(flitBytes))))

  /** With the last flit of a stored frame: its length. */
  val kept = IO(Input(Valid(UInt(Frame.lengthBits.W))))

  /** The same frames, a few cycles later. */
  val arrival = IO(Valid(new Arrival))

  /** No frame is in the pipeline. */
  val idle = IO(Output(Bool()))

  /** The flits with the type and the version, with the lengths and the protocol, and with the first of addresses. */
  private val typeFlit = typeByte / flitBytes
  private val fieldFlit = fourLengthByte / flitBytes
  private val addressFlit = fourAddressByte / flitBytes

  private val sum = Module(new InternetSum(new Checked, flitBytes))
  private val number = RegInit(0.U(log2Ceil(addressFlit + 2).W))
  private val four = Reg(Bool())
  private val six = Reg(Bool())

  /** All flits up to this one are those of a segment that can be verified. */
  private val candidate = Reg(Bool())

  /** Bytes from the next flit to the segment's end. */
  private val left = Reg(UInt(17.W))

  /** One byte, or two, of the frame, when their flit has arrived. */
  private def byte(place: Int): UInt = flit.bits.data(8 * (place % flitBytes) + 7, 8 * (place % flitBytes))
  private def word(place: Int): UInt = Cat(byte(place), byte(place + 1))
  private val full = flit.bits.count === flitBytes.U
  private val last = flit.bits.last

  private val saysFour = word(typeByte) === typeFour.U && byte(versionByte) === versionFour.U
  private val saysSix = word(typeByte) === typeSix.U && byte(versionByte)(7, 4) === 6.U
  private val fragment = word(fragmentByte)(13, 0).orR
  private val fourIsTcp =
    !fragment && byte(fourProtocolByte) === tcp.U && word(fourLengthByte) >= (fourBytes + leastTcp).U
  private val sixIsTcp = byte(sixProtocolByte) === tcp.U && word(sixLengthByte) >= leastTcp.U
  private val tcpLength = Mux(four, word(fourLengthByte) - fourBytes.U, word(sixLengthByte))
  private val end = tcpLength +& Mux(four, (ethernetBytes + fourBytes).U, (ethernetBytes + sixBytes).U)

  when(flit.valid) {
    number := Mux(last, 0.U, Mux(number > addressFlit.U, number, number + 1.U))
    val before = full && (number === 0.U || candidate)
    candidate := before
    left := Mux(left >= flitBytes.U, left - flitBytes.U, 0.U)
    when(number === typeFlit.U) {
      four := saysFour
      six := saysSix
      candidate := before && (saysFour || saysSix)
    }
    when(number === fieldFlit.U) {
      candidate := before && Mux(four, fourIsTcp, sixIsTcp)
      left := end - ((fieldFlit + 1) * flitBytes).U
    }
  }

  private val everyByte = ((1 << flitBytes) - 1).U(flitBytes.W)
  // From the addresses to the end, which is known once the flit with the lengths has been seen.
  private val untilEnd =
    Mux(left >= flitBytes.U, everyByte, Flit.firstBytes(left(log2Ceil(flitBytes) - 1, 0), flitBytes))
  private def from(place: Int, number: Int): UInt =
    VecInit.tabulate(flitBytes)(lane => (number * flitBytes + lane >= place).B).asUInt
  private def fromAddresses(number: Int): UInt =
    Mux(four, from(fourAddressByte, number), from(sixAddressByte, number)) & Mux(
      (number > fieldFlit).B,
      untilEnd,
      everyByte
    )
  private val summed =
    MuxLookup(number, untilEnd)((0 to addressFlit).map(number => number.U -> fromAddresses(number)))
  sum.in.valid := flit.valid
  sum.in.bits.data := flit.bits.data
  sum.in.bits.mask := summed & Flit.firstBytes(flit.bits.count, flitBytes)
  sum.in.bits.odd := false.B
  sum.in.bits.first := number === fieldFlit.U
  sum.in.bits.initial := tcpLength + tcp.U
  sum.in.bits.along.kept := kept.valid
  sum.in.bits.along.length := kept.bits
  sum.in.bits.along.whole := candidate && number > addressFlit.U && left <= flit.bits.count
  assert(!sum.in.valid || sum.in.ready, "a flit waits for a sum that nothing holds up")

  sum.out.ready := true.B
  arrival.valid := sum.out.valid && sum.out.bits.along.kept
  arrival.bits.length := sum.out.bits.along.length
  arrival.bits.verified := sum.out.bits.along.whole && sum.out.bits.sum.andR
  idle := sum.idle
}

/** The data that accompany a summed flit. */
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

  /** The positions of fields in a frame: the Ethernet type, the version of IP, and those of its versions 4 and 6. */
  private val typeByte = 12
  private val versionByte = 14
  private val fourLengthByte = 16
  private val fragmentByte = 20
  private val fourProtocolByte = 23
  private val fourAddressByte = 26
  private val sixLengthByte = 18
  private val sixProtocolByte = 20
  private val sixAddressByte = 22
}
