package rackwright.daronpon

import chisel3._
import chisel3.util._

import rackwright.port.StreamFlit

/** Extracts the report of another dispatcher from the flits of a frame, and verifies its tag.
  *
  * Message words of eight bytes start at byte 42 of a frame, two bytes into a flit, so that flit `6 + w` completes word
  * `w`. A report consists of `base` words and its entries, followed by the half word that ends the sealed part.
  */
class ReportReader extends Module {
  val key = IO(Input(UInt(128.W)))

  /** The flit at the input, whether it belongs to a frame with a report, and its number. */
  val flit = IO(Input(new StreamFlit(Sizes.flitBytes)))
  val index = IO(Input(UInt(12.W)))
  val count = IO(Input(UInt(4.W)))

  /** The flit is valid; it is accepted when `ready`. */
  val valid = IO(Input(Bool()))
  val ready = IO(Output(Bool()))

  /** The flit before. */
  val previous = IO(Input(UInt(64.W)))

  /** The next flit is flit 6 of a frame with a report, which is either a redirected request or gossip. */
  val start = IO(Input(Bool()))
  val redirected = IO(Input(Bool()))

  val told = IO(Output(new Told))
  val entries = IO(Output(Vec(Sizes.entries, new ReportEntry)))

  /** Address and port of the client, as stated in the report. */
  val origin = IO(Output(UInt(48.W)))

  /** The whole report has arrived, it does not exceed the largest size, and its tag is correct. */
  val whole = IO(Output(Bool()))
  val authentic = IO(Output(Bool()))

  private val hash = Module(new SipHash)
  private val stored = Reg(Vec(Sizes.entries, new ReportEntry))
  private val report = Reg(new Told)
  private val client = Reg(UInt(48.W))
  private val base = Reg(UInt(3.W))
  private val isWhole = RegInit(false.B)
  private val isAuthentic = RegInit(false.B)
  private val halfGiven = RegInit(false.B)
  private val tooMany = RegInit(false.B)

  /** The number of the flit with the end of the tag; known once the number of entries is. */
  private val sealFlit = Reg(UInt(6.W))
  private val sealKnown = RegInit(false.B)

  private val word = Cat(flit.data(15, 0), previous(63, 16))
  private val number = index - 6.U
  private val open = !isWhole && !tooMany

  /** The word with the number of entries stalls for one cycle, in which that number is decoded. */
  private val learns = number === base && !sealKnown
  private val atSeal = sealKnown && index === sealFlit

  hash.key := key
  hash.start := start
  hash.in.valid := valid && open && !learns && !(atSeal && halfGiven)
  hash.in.bits.last := atSeal
  hash.in.bits.data := Mux(atSeal, SipHash.lastWord(word(31, 0), Cat(sealFlit - 6.U, 4.U(3.W))), word)
  ready := !open || Mux(atSeal, hash.done, !learns && hash.in.ready)

  private val take = valid && open && ready
  private val entry = number - base
  when(valid && open && learns) {
    val entries = BigEndian.number(word, 2, 3)
    report.from := BigEndian.number(word, 0, 1)
    report.entries := entries
    tooMany := entries > Sizes.entries.U
    sealKnown := true.B
    sealFlit := base +& 6.U +& entries(4, 0)
  }
  when(take && number === 2.U && base === 4.U) {
    client := BigEndian.number(word, 0, 5)
    report.hops := word(55, 48)
  }
  when(take && number + 1.U === base) {
    report.incarnation := BigEndian.number(word, 0, 3)
    report.sequence := BigEndian.number(word, 4, 7)
  }
  when(take && number >= base && !atSeal) {
    stored(entry(3, 0)).service := BigEndian.number(word, 4, 5)
    stored(entry(3, 0)).cores := BigEndian.number(word, 6, 7)
  }
  when(take && number > base) { stored((entry - 1.U)(3, 0)).load := BigEndian.number(word, 0, 3) }
  when(hash.in.fire && atSeal) { halfGiven := true.B }
  when(take && atSeal) {
    isWhole := count >= 6.U
    isAuthentic := hash.hash === BigEndian.swap(Cat(flit.data(47, 0), previous(63, 48)))
  }

  // The checksum covers the words from the second on, and the rest of the tag.
  private val lanes = RegNext(BigEndian.words(word).reduce(_ +& _) +& 0.U(18.W))
  private val rest = RegNext(
    Mux(atSeal, BigEndian.number(flit.data, 2, 3) +& BigEndian.number(flit.data, 4, 5), 0.U)
  )
  private val adds = RegNext(take && number >= 2.U, false.B)
  when(adds) { report.sum := OnesComplement.fold(lanes +& rest +& report.sum) }

  when(start) {
    base := Mux(redirected, 4.U, 3.U)
    isWhole := false.B
    isAuthentic := false.B
    halfGiven := false.B
    tooMany := false.B
    sealKnown := false.B
    report.sum := 0.U
  }
  told := report
  entries := stored
  origin := client
  whole := isWhole
  authentic := isAuthentic
}
