package rackwright.entropy.bits

import chisel3._
import chisel3.util._

import rackwright.port.MemoryPortParams

/** Bits of a stream that is read from its end (RFC 8878, section 4.1): the highest set bit of the last byte marks the
  * end, and the bits below it are the first ones. The window contains them, the next one highest; bits after the first
  * byte of the stream are ignored.
  *
  * @param port
  *   shape of the beats.
  * @param width
  *   bits of the window, a multiple of 64.
  * @param step
  *   bits taken by each `take`; without it their number comes with `take`, and the window is filled in other cycles.
  */
class BackwardBits(port: MemoryPortParams, width: Int, step: Option[Int]) extends Module {
  private val wordBits = 64
  private val wordBytes = wordBits / 8
  private val words = port.bytes / wordBytes
  private val countBits = log2Ceil(width + 1)

  /** A stream of this number of bytes, at least one, is next; its beats are passed from its end. */
  val begin = IO(Flipped(Valid(UInt(BackwardBits.lengthBits.W))))
  val beat = IO(Flipped(Decoupled(new BackwardBeat(port))))

  /** Abandons the stream. */
  val clear = IO(Input(Bool()))

  /** The stream is open: `window` contains its next bits, `count` of which are valid. */
  val open = IO(Output(Bool()))
  val window = IO(Output(UInt(width.W)))
  val count = IO(Output(UInt(countBits.W)))

  /** Consumes bits, at most `count`. */
  val take = IO(Flipped(Valid(UInt(7.W))))

  /** Number of bits of the stream that were not consumed; negative if too many were. */
  val left = IO(Output(SInt(BackwardBits.leftBits.W)))

  /** The last byte is zero: not a stream. */
  val unmarked = IO(Output(Bool()))

  /** The stream cannot be read. */
  val fault = IO(Output(Bool()))

  private object State extends ChiselEnum {
    val idle, first, mark, running = Value
  }
  private val state = RegInit(State.idle)
  private val bytes = Reg(UInt(BackwardBits.lengthBits.W))
  private val held = Reg(UInt((8 * port.bytes).W))
  private val wordsLeft = RegInit(0.U(log2Ceil(words + 1).W))
  private val exhausted = Reg(Bool())
  private val faulty = RegInit(false.B)
  private val wrong = RegInit(false.B)
  private val bits = Reg(UInt(width.W))
  private val filled = RegInit(0.U(countBits.W))
  private val remaining = Reg(SInt(BackwardBits.leftBits.W))
  private val partial = Reg(UInt(wordBits.W))
  private val partialBits = Reg(UInt(7.W))

  /** The highest word of the beat held. */
  private val word = held(8 * port.bytes - 1, 8 * port.bytes - wordBits)
  private val offset = beat.bits.end(log2Ceil(wordBytes) - 1, 0)
  private val index = if (words == 1) 0.U else beat.bits.end >> log2Ceil(wordBytes)
  private val turnedUp = VecInit((0 until words).map { i =>
    val below = beat.bits.data(wordBits * (i + 1) - 1, 0)
    Cat(below, 0.U((8 * port.bytes - wordBits * (i + 1)).W))
  })(index)

  private val late = RegInit(false.B)
  beat.ready := (state === State.first || (state === State.running && !late)) && wordsLeft === 0.U
  private val filling = WireDefault(false.B)
  private val hasWord = wordsLeft =/= 0.U || exhausted
  private val next = Mux(exhausted && wordsLeft === 0.U, 0.U, word)
  when(filling && wordsLeft =/= 0.U) {
    wordsLeft := wordsLeft - 1.U
    held := held << wordBits
  }
  when(beat.fire) {
    held := Mux(beat.bits.first, turnedUp, beat.bits.data)
    wordsLeft := Mux(beat.bits.first, index +& 1.U, words.U)
    exhausted := false.B
    late := beat.bits.last
    when(beat.bits.fault) { faulty := true.B }
    when(state === State.first) {
      partialBits := (offset +& 1.U) << 3
      state := State.mark
    }
  }
  // After the last beat of the stream, zeros.
  when(late && wordsLeft === 0.U && !beat.fire && state === State.running) { exhausted := true.B }

  // The first word: the byte with the mark on top, then the bits below the mark.
  private val markStep = RegInit(0.U(2.W))
  private val leading = PriorityEncoder(Reverse(partial(wordBits - 1, wordBits - 8))) +& 1.U
  private val unread = Reg(UInt(4.W))
  when(state === State.mark) {
    markStep := markStep + 1.U
    when(markStep === 0.U) {
      partial := (word << Cat((wordBytes - 1).U - (partialBits(6, 3) - 1.U)(2, 0), 0.U(3.W)))(wordBits - 1, 0)
      wordsLeft := wordsLeft - 1.U
      held := held << wordBits
    }
    when(markStep === 1.U) {
      wrong := partial(wordBits - 1, wordBits - 8) === 0.U
      unread := leading
    }
    when(markStep === 2.U) {
      bits := Cat((partial << unread)(wordBits - 1, 0), 0.U((width - wordBits).W))
      filled := partialBits - unread
      remaining := (Cat(0.U(1.W), bytes, 0.U(3.W)) - unread).asSInt
      state := State.running
      markStep := 0.U
    }
  }

  // Running: take and fill.
  private def placed(at: UInt): UInt = (Cat(next, 0.U((width - wordBits).W)) >> at)(width - 1, 0)
  when(state === State.running) {
    step match {
      case Some(n) =>
        val fits = filled <= (width - wordBits).U
        val fitsAfter = filled <= (width - wordBits + n).U
        filling := hasWord && Mux(take.valid, fitsAfter, fits)
        val stay = bits | Mux(filling, placed(filled), 0.U)
        val go = (bits << n)(width - 1, 0) | Mux(filling, placed(filled - n.U), 0.U)
        bits := Mux(take.valid, go, stay)
        filled := filled - Mux(take.valid, n.U, 0.U) + Mux(filling, wordBits.U, 0.U)
      case None =>
        filling := hasWord && !take.valid && filled <= (width - wordBits).U
        bits := Mux(take.valid, (bits << take.bits)(width - 1, 0), bits | Mux(filling, placed(filled), 0.U))
        filled := Mux(take.valid, filled - take.bits, filled + Mux(filling, wordBits.U, 0.U))
    }
    when(take.valid) { remaining := remaining - step.map(_.S(8.W)).getOrElse(Cat(0.U(1.W), take.bits).asSInt) }
  }

  private def forget(): Unit = {
    wordsLeft := 0.U
    exhausted := false.B
    late := false.B
    filled := 0.U
    markStep := 0.U
    wrong := false.B
  }
  when(begin.valid) {
    forget()
    bytes := begin.bits
    state := State.first
  }
  when(clear) {
    forget()
    faulty := false.B
    state := State.idle
  }
  open := state === State.running && !wrong
  window := bits
  count := filled
  left := remaining
  unmarked := wrong
  fault := faulty
}

/** Widths. */
object BackwardBits {

  /** Bits of a length in bytes, up to 128 KiB. */
  val lengthBits: Int = 18

  /** Bits of the number of bits left, and its sign; a few more than there are may be taken. */
  val leftBits: Int = 23
}
