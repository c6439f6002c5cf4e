package rackwright.deflate

import chisel3._
import chisel3.util._

import rackwright.memory.ByteStream

import TokenFormat.distanceReach

/** The next bits of the input, for those who take few at a time. */
class BitHead extends Bundle {

  /** The next bits, the first one lowest; `count` of them are there. */
  val window = UInt(InputBits.shown.W)
  val count = UInt(log2Ceil(InputBits.shown + 1).W)

  /** No more than `count` bits are left; because those that follow can't be read. */
  val last = Bool()
  val fault = Bool()

  /** Where the next bit is, counted from the first one of the source. */
  val position = UInt(InputBits.positionBits.W)

  def has(bits: UInt): Bool = count >= bits
  def lacks(bits: UInt): Bool = last && count < bits
}

object InputBits {

  /** Bits of a number of bits of the source. */
  val positionBits: Int = 67

  /** Bits shown to those who take few. */
  val shown: Int = 32
}

/** The input as bits, the lowest one of a byte first (RFC 1951, section 3.1.1): a few at a time, or chunk after chunk.
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

  /** The bits from here on come next; the stream is moved to the byte of the first one. */
  val seek = IO(Flipped(Valid(UInt(InputBits.positionBits.W))))
  val move = IO(Valid(UInt(64.W)))

  /** Nothing is taken from the stream, and nothing of it is held. */
  val hold = IO(Input(Bool()))
  val head = IO(Output(new BitHead))
  val take = IO(Input(UInt(6.W)))

  /** Chunks, while `running`; those behind the end of the input have no bits of it. */
  val running = IO(Input(Bool()))
  val chunk = IO(Decoupled(new TokenChunk(bits)))

  private val window = RegInit(0.U(width.W))
  private val filled = RegInit(0.U(log2Ceil(width + 1).W))
  private val word = Reg(UInt(wordBits.W))
  private val wordCount = RegInit(0.U(log2Ceil(wordBytes + 1).W))
  private val skip = RegInit(0.U(3.W))
  private val position = RegInit(0.U(InputBits.positionBits.W))
  private val restart = seek.valid || hold

  // A word of the stream.
  private val offered = stream.available >= wordBytes.U
  private val rest = stream.available =/= 0.U && (stream.last || stream.fault)
  private val filling = WireDefault(false.B)
  private val fetch = (offered || rest) && (wordCount === 0.U || filling) && !restart
  stream.consume := Mux(fetch, Mux(offered, wordBytes.U, stream.available), 0.U)
  when(filling) { wordCount := 0.U }
  when(fetch) {
    val count = Mux(offered, wordBytes.U, stream.available)
    val keep = VecInit.tabulate(wordBytes)(i => Fill(8, count > i.U)).asUInt
    word := Cat(stream.data.take(wordBytes).reverse) & keep
    wordCount := count
  }
  private val nothing = stream.available === 0.U && wordCount === 0.U
  private val exhausted = nothing && (stream.last || stream.fault)

  // The window: chunks and words in the same cycle, few bits or a word.
  private val few = Mux(skip === 0.U, take, Mux(filled === 0.U, 0.U, skip))
  private val passes = running && chunk.fire
  private val taken = Mux(running, Mux(chunk.fire, bits.U, 0.U), few)
  private val less = Mux(taken >= filled, 0.U, filled - taken)
  private val room = filled <= wordBits.U || (passes && filled <= (wordBits + bits).U)
  private val mayFill = wordCount =/= 0.U && Mux(running, room, few === 0.U && filled <= wordBits.U)
  filling := mayFill
  private val added = Mux(mayFill, Cat(wordCount, 0.U(3.W)), 0.U)
  private val placed = Mux(mayFill, word, 0.U)
  private def at(place: UInt): UInt = (placed << place)(width - 1, 0)
  when(running) {
    window := Mux(passes, (window >> bits) | at((filled - bits.U)(log2Ceil(width) - 1, 0)), window | at(filled))
  }.otherwise {
    window := Mux(few =/= 0.U, window >> few, window | at(filled))
  }
  filled := less + added
  position := position + Mux(running, 0.U, take)
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
