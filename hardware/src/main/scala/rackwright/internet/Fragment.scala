package rackwright.internet

import chisel3._
import chisel3.util._

import rackwright.network.Frame

/** What all fragments of a datagram have in common (RFC 791, 3.2). */
class FragmentKey extends Bundle {
  val source, destination = UInt(32.W)
  val identification = UInt(16.W)
  val protocol = UInt(8.W)
}

object FragmentKey {

  /** That of a packet. */
  def of(packet: PacketInfo): FragmentKey = {
    val key = Wire(new FragmentKey)
    key.source := packet.source
    key.destination := packet.destination
    key.identification := packet.identification
    key.protocol := packet.protocol
    key
  }
}

/** Flits of a datagram that have arrived, from `begin` to before `end`. */
class Run(bits: Int) extends Bundle {
  val present = Bool()
  val begin, end = UInt(bits.W)

  /** The flits of `other` are among these. */
  def holds(other: Run): Bool = present && begin <= other.begin && other.end <= end

  /** No flit is in both. */
  def isApart(other: Run): Bool = !present || other.end <= begin || end <= other.begin
}

/** A datagram of which some fragments have arrived. */
class Assembly(params: Params) extends Bundle {
  private val bits = Fragment.placeBits(params)

  /** It waits for further fragments. */
  val waits = Bool()

  /** All of it has arrived. */
  val whole = Bool()
  val key = new FragmentKey

  /** The headers of its first fragment, once that has arrived. */
  val packet = new PacketInfo
  val runs = Vec(Fragment.runs, new Run(bits))

  /** The last fragment has arrived: this is the number of the datagram's bytes. */
  val ends = Bool()
  val bytes = UInt(16.W)

  /** Cycles until it is given up. */
  val timer = UInt(40.W)

  /** The number of its flits. */
  def flits: UInt = Fragment.flits(bytes)
}

/** Constants of fragments. */
object Fragment {

  /** Parts of a datagram, with gaps between them, that are known at a time. */
  val runs: Int = 4

  /** The unit of offsets is the flit. */
  def flits(bytes: UInt): UInt = (bytes >> log2Ceil(Frame.flitBytes)) + bytes(log2Ceil(Frame.flitBytes) - 1, 0).orR

  /** Width of the number of a flit, and of the end of one, in a datagram that has room. */
  def placeBits(params: Params): Int = log2Ceil(params.bufferFlits) + 1
}
