package rackwright.entropy.bits

import chisel3._
import chisel3.util._

/** Bits to append: the low `count` of `value`; those above are ignored. */
class BitString(val most: Int) extends Bundle {
  val value = UInt(most.W)
  val count = UInt(log2Ceil(most + 1).W)
}

/** Up to `bytes` bytes, the first one lowest. */
class PackedWord(val bytes: Int = 8) extends Bundle {
  val data = UInt((8 * bytes).W)
  val count = UInt(log2Ceil(bytes + 1).W)
}

/** Packs bits into words, the first bit lowest, as required by streams that are read from their end. Accepts a string
  * of bits in every cycle; a word leaves four cycles later and has to be taken.
  *
  * @param most
  *   the longest string, shorter than a word.
  * @param wordBytes
  *   bytes of a word: a power of two.
  */
class BitPacker(most: Int, wordBytes: Int = 8) extends Module {
  private val wordBits = 8 * wordBytes
  private val fillBits = log2Ceil(wordBits)
  require(most < wordBits, s"strings of $most bits don't fit beside a word of $wordBits")
  val bits = IO(Flipped(Valid(new BitString(most))))

  /** Pads to a byte and outputs the bits; not in a cycle with bits. */
  val align = IO(Input(Bool()))

  /** Resets the count of bytes; while it is not busy. */
  val clear = IO(Input(Bool()))
  val word = IO(Valid(new PackedWord(wordBytes)))

  /** Bytes output so far; valid while it is not busy. */
  val bytes = IO(Output(UInt(20.W)))
  val busy = IO(Output(Bool()))

  // Masked.
  private val taking = RegNext(bits.valid, false.B)
  private val aligning = RegNext(align, false.B)
  private val count = RegEnable(bits.bits.count, bits.valid)
  private val mask = VecInit.tabulate(most)(i => bits.bits.count > i.U).asUInt
  private val value = RegEnable(bits.bits.value & mask, bits.valid)
  assert(!(bits.valid && align), "bits come with an alignment")

  // Where it goes.
  private val fill = RegInit(0.U(fillBits.W))
  private val next = fill +& count
  when(taking) { fill := next }
  when(aligning) { fill := 0.U }
  private val placing = RegNext(taking, false.B)
  private val place = RegEnable(fill, taking)
  private val placed = RegEnable(value, taking)
  private val spills = RegNext(taking && next >= wordBits.U, false.B)
  private val closes = RegNext(aligning, false.B)
  private val closedBytes = RegEnable((fill +& 7.U) >> 3, aligning)

  // Shifted.
  private val joining = RegNext(placing, false.B)
  private val shifted = RegEnable((placed << place)(wordBits - 2 + most, 0), placing)
  private val full = RegNext(spills, false.B)
  private val ending = RegNext(closes, false.B)
  private val endBytes = RegNext(closedBytes)

  // Joined.
  private val held = RegInit(0.U(wordBits.W))
  private val joined = held | Mux(joining, shifted(wordBits - 1, 0), 0.U)
  held := Mux(ending, 0.U, Mux(full, shifted >> wordBits, joined))
  word.valid := RegNext(full || (ending && endBytes =/= 0.U), false.B)
  word.bits.data := RegNext(joined)
  word.bits.count := RegNext(Mux(full, wordBytes.U, endBytes))

  private val total = RegInit(0.U(20.W))
  when(word.valid) { total := total + word.bits.count }
  when(clear) { total := 0.U }
  bytes := total
  busy := bits.valid || align || taking || aligning || placing || closes || joining || ending || word.valid
}
