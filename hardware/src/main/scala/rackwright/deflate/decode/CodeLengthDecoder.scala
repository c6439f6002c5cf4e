package rackwright.deflate.decode

import chisel3._
import chisel3.util._

/** A code length code found at the current position. */
class FoundCodeLength extends Bundle {
  val symbol = UInt(5.W)
  val codeBits = UInt(3.W)

  /** Bits of the code and of its extra bits. */
  val whole = UInt(4.W)
}

/** The code length code (RFC 1951, section 3.2.7): it is built from its own lengths, one length of words per cycle, and
  * decodes one code per cycle. While a code is being consumed, every position at which the next code may start is
  * compared with all words.
  */
class CodeLengthDecoder extends Module {
  import CodeLengthDecoder._

  /** Starts a code, whose lengths follow. */
  val start = IO(Input(Bool()))

  /** The next lengths in the order of the description; 0 after the last one. */
  val group = IO(Flipped(Valid(Vec(lanes, UInt(3.W)))))

  /** All lengths have been given: builds the words, until `done`. The second signal then tells whether the code is
    * complete.
    */
  val build = IO(Input(Bool()))
  val done = IO(Output(Bool()))
  val complete = IO(Output(Bool()))

  /** The next bits of the input, of which `reach` are examined. */
  val window = IO(Input(UInt(reach.W)))

  /** Consumes the code found, and finds the next one; the first time, there is none to consume. */
  val advance = IO(Input(Bool()))
  val found = IO(Output(new FoundCodeLength))

  // Lengths; omitted ones are 0.
  private val lengths = Reg(Vec(symbols, UInt(3.W)))
  private val groups = Reg(UInt(log2Ceil(symbols / lanes + 1).W))
  when(group.valid) {
    groups := groups + 1.U
    for ((symbol, i) <- order.zipWithIndex)
      when(groups === (i / lanes).U) { lengths(symbol) := group.bits(i % lanes) }
  }

  // Words, with the first bit highest, and masks of their bits: shorter words are shifted up while longer ones are
  // assigned.
  private val words = Reg(Vec(symbols, UInt(mostBits.W)))
  private val masks = Reg(Vec(symbols, UInt(mostBits.W)))
  private val length = RegInit(0.U(3.W))
  private val ranking = length =/= 0.U
  private val placing = RegNext(ranking, false.B)
  private val mine = lengths.map(_ === length)
  private val places = RegNext(VecInit(mine.indices.map(i => PopCount(false.B +: mine.take(i)))))
  private val here = RegNext(VecInit(mine))
  private val count = RegNext(PopCount(mine))
  private val first = Reg(UInt(sumBits.W))
  when(ranking) { length := length + 1.U }
  when(placing) {
    first := Cat((first + count)(sumBits - 2, 0), 0.U(1.W))
    for (i <- 0 until symbols) {
      words(i) := Mux(here(i), (first + places(i))(mostBits - 1, 0), Cat(words(i)(mostBits - 2, 0), 0.U(1.W)))
      masks(i) := Mux(here(i), Fill(mostBits, true.B), Cat(masks(i)(mostBits - 2, 0), 0.U(1.W)))
    }
  }
  when(build) {
    length := 1.U
    first := 0.U
  }
  done := !ranking && !placing
  complete := first === (2 << mostBits).U

  // The code after the one found, for every position at which it may start.
  private val behind = Reg(UInt((mostWhole + 1).W))
  private def hits(offset: Int): UInt = {
    val value = Reverse(window(offset + mostBits - 1, offset))
    VecInit(words.zip(masks).map { case (word, mask) =>
      mask(mostBits - 1) && ((value ^ word) & mask) === 0.U
    }).asUInt
  }
  private val hit = Mux1H(behind.asBools, (0 to mostWhole).map(hits)).asBools
  private val whole = Mux1H(hit, lengths.zip(extra).map { case (length, extra) => length +& extra.U })
  private val next = Reg(new FoundCodeLength)
  found := next
  when(advance) {
    next.symbol := Mux1H(hit, (0 until symbols).map(_.U(5.W)))
    next.codeBits := Mux1H(hit, lengths)
    next.whole := whole
    behind := UIntToOH(whole, mostWhole + 1)
  }

  when(start) {
    lengths.foreach(_ := 0.U)
    masks.foreach(_ := 0.U)
    groups := 0.U
    behind := 1.U
  }
}

/** Constants of RFC 1951, section 3.2.7. */
object CodeLengthDecoder {
  val symbols: Int = 19
  val mostBits: Int = 7

  /** The order in which lengths are given, and how many are accepted in a cycle. */
  val order: Seq[Int] = Seq(16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15)
  val lanes: Int = 4

  /** Number of extra bits of each symbol. */
  val extra: Seq[Int] = Seq.fill(16)(0) ++ Seq(2, 3, 7)

  /** The most bits of a code with its extra bits, and the number of bits examined to find the next code. */
  val mostWhole: Int = mostBits + extra.max
  val reach: Int = mostWhole + mostBits

  /** Width of twice the largest Kraft sum of the alphabet. */
  private val sumBits = log2Ceil((symbols << mostBits) + 1)
}
