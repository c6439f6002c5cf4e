package rackwright.network

import chisel3._
import chisel3.util._

/** A flit for a sum, with accompanying data. */
class Summand[T <: Data](gen: T, flitBytes: Int) extends Bundle {
  val data = UInt((8 * flitBytes).W)

  /** The bytes that are summed; byte 0 is the low byte of a word. */
  val mask = UInt(flitBytes.W)
  val odd = Bool()

  /** The sum begins with this flit, from `initial`. */
  val first = Bool()
  val initial = UInt(16.W)
  val along = gen.cloneType
}

/** The accompanying data, and the sum up to this flit. */
class Summed[T <: Data](gen: T) extends Bundle {
  val sum = UInt(16.W)
  val along = gen.cloneType
}

/** The ones' complement sum of 16-bit words, high byte first (RFC 1071): a flit per cycle, four cycles long.
  *
  * Stages: the flit; sums of its high and of its low bytes; the sum up to it, with pending carries; these carries
  * added.
  *
  * @param gen
  *   the data that accompany each flit.
  * @param flitBytes
  *   bytes of a flit.
  */
class InternetSum[T <: Data](gen: T, flitBytes: Int = Frame.flitBytes) extends Module {
  import InternetSum._

  val in = IO(Flipped(Decoupled(new Summand(gen, flitBytes))))
  val out = IO(Decoupled(new Summed(gen)))

  /** No flit is accepted or passed on in this cycle. */
  val idle = IO(Output(Bool()))

  /** Bits of a sum of half of the bytes of a flit. */
  private val byteSumBits = 8 + log2Ceil(flitBytes / 2)

  /** Bits of a sum whose carries have not been added: 2^16 - 1, the carries before, and all bytes of a flit. */
  private val carryingBits = 16 + log2Ceil(flitBytes)

  private class Bytes extends Bundle {
    val high = UInt(byteSumBits.W)
    val low = UInt(byteSumBits.W)
    val first = Bool()
    val initial = UInt(16.W)
    val along = gen.cloneType
  }
  private class Carrying extends Bundle {
    val sum = UInt(carryingBits.W)
    val along = gen.cloneType
  }

  private val taken = Queue(in, 1, pipe = true)
  private val bytes = Wire(Decoupled(new Bytes))
  private val counted = Seq.tabulate(flitBytes) { i =>
    Mux(taken.bits.mask(i), taken.bits.data(8 * i + 7, 8 * i), 0.U(8.W))
  }
  private val (even, others) = counted.zipWithIndex.partition(_._2 % 2 == 0)
  private def total(summands: Seq[(UInt, Int)]): UInt =
    summands.map(_._1).grouped(chained).map(_.reduce(_ +& _)).reduce(_ +& _).pad(byteSumBits)
  bytes.valid := taken.valid
  taken.ready := bytes.ready
  bytes.bits.high := Mux(taken.bits.odd, total(others), total(even))
  bytes.bits.low := Mux(taken.bits.odd, total(even), total(others))
  bytes.bits.first := taken.bits.first
  bytes.bits.initial := taken.bits.initial
  bytes.bits.along := taken.bits.along

  // Two places here, so that the path of the consumer's `ready` ends here.
  private val adding = Queue(bytes, 2)
  private val added = Wire(Decoupled(new Carrying))
  private val before = Reg(UInt(carryingBits.W))
  private val start = Mux(adding.bits.first, adding.bits.initial, before)
  added.valid := adding.valid
  adding.ready := added.ready
  added.bits.sum := start(15, 0) +& (start >> 16) + ((adding.bits.high ## 0.U(8.W)) +& adding.bits.low)
  added.bits.along := adding.bits.along
  when(added.fire) { before := added.bits.sum }

  private val folding = Queue(added, 1, pipe = true)
  private val folded = Wire(Decoupled(new Summed(gen)))
  folded.valid := folding.valid
  folding.ready := folded.ready
  folded.bits.sum := fold(folding.bits.sum)
  folded.bits.along := folding.bits.along
  out <> Queue(folded, 1, pipe = true)
  idle := !in.fire && !bytes.fire && !added.fire && !folded.fire && !out.fire
}

/** Constants and the end of an [[InternetSum]]. */
object InternetSum {

  /** Bytes that are added one after the other; such sums are added then. */
  private val chained = 4

  private def fold(wide: UInt): UInt = {
    val once = wide(15, 0) +& (wide >> 16)
    once(15, 0) + once(16)
  }
}
