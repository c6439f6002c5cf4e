package rackwright.deflate.decode

import chisel3._
import chisel3.util._

/** A code of a description that was found at the next bit of the input. */
class FoundCodeLength extends Bundle {
  val symbol = UInt(5.W)
  val codeBits = UInt(3.W)

  /** Bits of the code and of what is behind it. */
  val whole = UInt(4.W)
}

/** The code by which lengths of codes are described (RFC 1951, section 3.2.7): is made from its own lengths, one length
  * of words per cycle, and finds a code per cycle. For that, each bit behind which the next code may begin is compared
  * with all words while the code before it is taken.
  */
class CodeLengthDecoder extends Module {
  import CodeLengthDecoder._

  /** Lengths follow. */
  val start = IO(Input(Bool()))

  /** The next lengths in the order of the description; 0 behind the last one. */
  val group = IO(Flipped(Valid(Vec(lanes, UInt(3.W)))))

  /** All lengths were given: words are made, until `done`. Then: the code has a word for all bits that may come. */
  val build = IO(Input(Bool()))
  val done = IO(Output(Bool()))
  val complete = IO(Output(Bool()))

  /** The next bits of the input, of which `reach` are looked at. */
  val window = IO(Input(UInt(reach.W)))

  /** The code that is found is taken from the input, and the one behind it is found; before the first time, none is. */
  val advance = IO(Input(Bool()))
  val found = IO(Output(new FoundCodeLength))

  // Lengths; those that are not given are 0.
  private val lengths = Reg(Vec(symbols, UInt(3.W)))
  private val groups = Reg(UInt(log2Ceil(symbols / lanes + 1).W))
  when(group.valid) {
    groups := groups + 1.U
    for ((symbol, i) <- order.zipWithIndex)
      when(groups === (i / lanes).U) { lengths(symbol) := group.bits(i % lanes) }
  }

  // Words, first bit highest, and the bits that belong to them: those of shorter ones move up while longer are made.
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

  // The code behind the one that is found, wherever it begins.
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

/** What RFC 1951, section 3.2.7, says of the code. */
object CodeLengthDecoder {
  val symbols: Int = 19
  val mostBits: Int = 7

  /** The order in which its lengths are given, and how many are taken in a cycle. */
  val order: Seq[Int] = Seq(16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15)
  val lanes: Int = 4

  /** Bits behind the code of each symbol. */
  val extra: Seq[Int] = Seq.fill(16)(0) ++ Seq(2, 3, 7)

  /** The most bits of a code and what is behind it; those that are looked at to find the next one. */
  val mostWhole: Int = mostBits + extra.max
  val reach: Int = mostWhole + mostBits

  /** Twice the codes that all symbols could have. */
  private val sumBits = log2Ceil((symbols << mostBits) + 1)
}
