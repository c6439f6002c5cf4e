package rackwright.deflate.decode

import chisel3._
import chisel3.util._

import rackwright.access.Ranges
import rackwright.deflate.TokenFormat
import rackwright.stream.ByteStream

import TokenFormat.distanceReach

/** The next bits of the input, for consumers of a few bits at a time. */
class BitHead extends Bundle {

  /** The next bits, the first one lowest; `count` of them are valid. */
  val window = UInt(InputBits.shown.W)
  val count = UInt(log2Ceil(InputBits.shown + 1).W)

  /** At most `count` bits are left; the second signal: because the following ones cannot be read. */
  val last = Bool()
  val fault = Bool()

  /** The position of the next bit in the input, in bits. */
  val position = UInt(InputBits.positionBits.W)

  def has(bits: UInt): Bool = count >= bits
  def lacks(bits: UInt): Bool = last && count < bits

  /** The head while `bits` bits are being consumed: if any are, only the low bits of the position are valid, those that
    * no carry reaches late.
    */
  def after(bits: UInt): BitHead = {
    val none = bits === 0.U
    val next = Wire(new BitHead)
    next.window := window
    next.count := Mux(none, count, 0.U)
    next.last := last && none
    next.fault := fault && none
    next.position := Cat(position >> bits.getWidth, position(bits.getWidth - 1, 0) + bits)
    next
  }
}

object InputBits {

  /** Width of a position in bits. */
  val positionBits: Int = 67

  /** Number of bits shown to consumers of a few bits. */
  val shown: Int = 32
}

/** The input as a bit stream, lowest bit of a byte first (RFC 1951, section 3.1.1), which is consumed a few bits at a
  * time or in chunks.
  *
  * @param bytes
  *   most bytes of the stream in a cycle.
  * @param bits
  *   bits of a chunk.
  */
class InputBits(bytes: Int, bits: Int) extends Module {
  private val wordBytes = 8
  private val wordBits = 8 * wordBytes
  private val width = 2 * wordBits
  private val reach = bits + distanceReach - 1
  require(reach <= wordBits, s"chunks of $bits bits are too long")

  val stream = IO(Flipped(new ByteStream(bytes)))

  /** Moves to this bit position; the byte stream is moved to the byte that holds it. */
  val seek = IO(Flipped(Valid(UInt(InputBits.positionBits.W))))
  val move = IO(Valid(UInt(64.W)))

  /** Consumes nothing from the byte stream, and drops the buffered bits. */
  val hold = IO(Input(Bool()))
  val head = IO(Output(new BitHead))
  val take = IO(Input(UInt(6.W)))

  /** Number of bits by which the position advances: of those consumed in this cycle or in the one before. */
  val counted = IO(Input(UInt(6.W)))

  /** Chunks, while `running`; bits beyond the end of the input are marked as unavailable. */
  val running = IO(Input(Bool()))
  val chunk = IO(Decoupled(new TokenChunk(bits)))

  private val window = RegInit(0.U(width.W))
  private val filled = RegInit(0.U(log2Ceil(width + 1).W))
  private val word = Reg(UInt(wordBits.W))
  private val wordCount = RegInit(0.U(log2Ceil(wordBytes + 1).W))
  private val skip = RegInit(0.U(3.W))
  private val position = RegInit(0.U(InputBits.positionBits.W))
  private val restart = seek.valid || hold

  // Consumes a word of the byte stream in at most every second cycle: its availability is determined one cycle ahead.
  private val offered = stream.available >= wordBytes.U
  private val rest = stream.available =/= 0.U && (stream.last || stream.fault)
  private val there = RegNext((offered || rest) && stream.consume === 0.U && !restart, false.B)
  private val thereCount = RegNext(Mux(offered, wordBytes.U, stream.available)(log2Ceil(wordBytes + 1) - 1, 0))
  private val filling = WireDefault(false.B)
  private val fetch = there && wordCount === 0.U && !hold
  stream.consume := Mux(fetch, thereCount, 0.U)
  when(filling) { wordCount := 0.U }
  when(fetch) {
    val keep = VecInit.tabulate(wordBytes)(i => Fill(8, thereCount > i.U)).asUInt
    word := Cat(stream.data.take(wordBytes).reverse) & keep
    wordCount := thereCount
  }
  private val nothing = stream.available === 0.U && wordCount === 0.U
  // Registered, since it is known late in the cycle; held until a restart.
  private val exhausted = RegNext(nothing && (stream.last || stream.fault) && !restart, false.B)

  // The window shifts out a chunk or a few bits, and shifts in a word, in the same cycle. Acceptance of a chunk is
  // known late, so that both cases are computed.
  private val few = Mux(skip === 0.U, take, Mux(filled === 0.U, 0.U, skip))
  private val passes = running && chunk.fire
  private val stays = Mux(running, !passes, few === 0.U)
  private val hasWord = wordCount =/= 0.U
  private val fillsStaying = hasWord && filled <= wordBits.U
  private val fillsPassing = hasWord && filled <= (wordBits + bits).U
  private val wordLength = Cat(wordCount, 0.U(3.W))
  private def filledBy(kept: UInt, fills: Bool): UInt = kept + Mux(fills, wordLength, 0.U)
  private def placed(place: UInt, fills: Bool): UInt = (word << place)(width - 1, 0) & Fill(width, fills)
  private def without(taken: UInt): UInt = Mux(taken >= filled, 0.U, filled - taken)
  filling := Mux(stays, fillsStaying, running && fillsPassing)
  when(stays) {
    window := window | placed(filled, fillsStaying)
    filled := filledBy(filled, fillsStaying)
  }.elsewhen(running) {
    window := (window >> bits) | placed((filled - bits.U)(log2Ceil(width) - 1, 0), fillsPassing)
    filled := filledBy(without(bits.U), fillsPassing)
  }.otherwise {
    window := window >> few
    filled := without(few)
  }
  position := Ranges.advance(position, counted & Fill(counted.getWidth, !running))
  when(skip =/= 0.U && filled =/= 0.U && !running) { skip := 0.U }

  private val settled = skip === 0.U
  chunk.valid := running && settled && (filled >= reach.U || exhausted)
  chunk.bits.window := window(reach - 1, 0)
  chunk.bits.available := Mux(filled >= reach.U, reach.U, filled)
  private val most = filled >= InputBits.shown.U
  head.window := window(InputBits.shown - 1, 0)
  head.count := Mux(!settled, 0.U, Mux(most, InputBits.shown.U, filled))
  head.last := exhausted && settled && !most
  head.fault := exhausted && stream.fault
  head.position := position

  move.valid := seek.valid
  move.bits := seek.bits >> 3
  when(seek.valid) {
    position := seek.bits
    skip := seek.bits(2, 0)
  }
  when(restart) {
    window := 0.U
    filled := 0.U
    wordCount := 0.U
  }
}
