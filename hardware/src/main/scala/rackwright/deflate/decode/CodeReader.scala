package rackwright.deflate.decode

import chisel3._
import chisel3.util._

import rackwright.deflate.TokenFormat._
import rackwright.entropy.huffman.{CanonicalCode, CanonicalCodeBuilder, CanonicalPlace}

/** Reads the description of the two codes of a block (RFC 1951, section 3.2.7) and builds them.
  *
  * What is wrong is decided as in the reference library: more symbols than there are, a repetition of nothing or beyond
  * the last symbol, a code with too many or too few codes (but one distance of one bit, or none), no end of block.
  */
class CodeReader extends Module {
  import CodeReader._

  /** A description begins with the next bit. */
  val start = IO(Input(Bool()))
  val clear = IO(Input(Bool()))
  val head = IO(Input(new BitHead))
  val take = IO(Output(UInt(6.W)))
  val literal = IO(Output(new CanonicalCode(mostBits, literalSymbols)))
  val distance = IO(Output(new CanonicalCode(mostBits, distanceSymbols)))
  val literalPlace = IO(Valid(new CanonicalPlace(literalSymbols)))
  val distancePlace = IO(Valid(new CanonicalPlace(distanceSymbols)))

  /** The codes are built; for one cycle. */
  val done = IO(Output(Bool()))

  /** It is wrong, or the input ends; stays until `clear`. */
  val wrong = IO(Output(Bool()))

  private object State extends ChiselEnum {
    val idle, counts, lengths, feed, build, decode, meaning, taking, repeat, finish, check, done, wrong = Value
  }
  private val state = RegInit(State.idle)
  private val codeBuilder = Module(new CanonicalCodeBuilder(codeMostBits, codeSymbols))
  private val literals = Module(new CanonicalCodeBuilder(mostBits, literalSymbols))
  private val distances = Module(new CanonicalCodeBuilder(mostBits, distanceSymbols))

  private val literalCount = Reg(UInt(9.W))
  private val total = Reg(UInt(9.W))
  private val codeCount = Reg(UInt(5.W))
  private val index = Reg(UInt(9.W))
  private val codeLengths = Reg(Vec(codeSymbols, UInt(3.W)))
  private val codes = Reg(Vec(codeSymbols, UInt(5.W)))
  private val symbol = Reg(UInt(5.W))
  private val place = Reg(UInt(5.W))
  private val codeBits = Reg(UInt(3.W))

  /** Bits of the code and of what is behind it. */
  private val whole = Reg(UInt(4.W))
  private val previous = Reg(UInt(4.W))
  private val repeats = Reg(UInt(8.W))
  private val hasEnd = Reg(Bool())

  take := 0.U
  when(codeBuilder.place.valid) { codes(codeBuilder.place.bits.place) := codeBuilder.place.bits.symbol }

  // A code of the description, and what follows it.
  private val value = Reverse(head.window(codeMostBits - 1, 0))
  private val length = codeBuilder.code.lengthOf(value)
  private val plain = symbol < 16.U
  private def extraOf(symbol: UInt): UInt =
    MuxLookup(symbol, 0.U(3.W))(Seq(16.U -> 2.U, 17.U -> 3.U, 18.U -> 7.U))
  private val behind = (head.window >> codeBits)(6, 0)
  private val count = MuxLookup(symbol, 1.U(8.W))(
    Seq(16.U -> (behind(1, 0) +& 3.U), 17.U -> (behind(2, 0) +& 3.U), 18.U -> (behind +& 11.U))
  )
  private val gives = WireDefault(false.B)
  private val bits = WireDefault(previous)
  private val toLiterals = index < literalCount
  // A cycle late, as it is known late; the codes are finished two cycles after the last length or later.
  for ((builder, mine) <- Seq(literals -> toLiterals, distances -> !toLiterals)) {
    builder.start := start
    builder.length.valid := RegNext(gives && mine, false.B)
    builder.length.bits := RegNext(bits)
    builder.finish := state === State.finish
  }
  when(gives) {
    index := index + 1.U
    when(index === endOfBlock.U && bits =/= 0.U) { hasEnd := true.B }
  }
  codeBuilder.start := start
  codeBuilder.length.valid := false.B
  codeBuilder.length.bits := codeLengths(index(4, 0))
  codeBuilder.finish := false.B

  private def fail(): Unit = state := State.wrong
  switch(state) {
    is(State.counts) {
      val (hlit, hdist) = (head.window(4, 0), head.window(9, 5))
      literalCount := hlit +& 257.U
      total := hlit +& hdist +& 258.U
      codeCount := head.window(13, 10) +& 4.U
      index := 0.U
      hasEnd := false.B
      codeLengths.foreach(_ := 0.U)
      when(head.has(14.U)) {
        take := 14.U
        state := State.lengths
        when(hlit > (describedLiterals - 257).U || hdist > (describedDistances - 1).U) { fail() }
      }.elsewhen(head.lacks(14.U)) { fail() }
    }
    is(State.lengths) {
      when(head.has(3.U)) {
        take := 3.U
        codeLengths(VecInit(order.map(_.U(5.W)))(index(4, 0))) := head.window(2, 0)
        index := index + 1.U
        when(index + 1.U === codeCount) {
          index := 0.U
          state := State.feed
        }
      }.elsewhen(head.lacks(3.U)) { fail() }
    }
    is(State.feed) {
      codeBuilder.length.valid := index < codeSymbols.U
      codeBuilder.finish := index === codeSymbols.U
      index := index + 1.U
      when(index === codeSymbols.U) { state := State.build }
    }
    is(State.build) {
      index := 0.U
      when(codeBuilder.done) {
        state := Mux(codeBuilder.oversubscribed || codeBuilder.incomplete, State.wrong, State.decode)
      }
    }
    is(State.decode) {
      place := codeBuilder.code.placeOf(value, length)
      codeBits := OHToUInt(Cat(length, 0.U(1.W)))
      when(index === total) {
        state := Mux(hasEnd, State.finish, State.wrong)
      }.elsewhen(head.has(codeMostBits.U) || head.last) { state := State.meaning }
    }
    is(State.meaning) {
      symbol := codes(place)
      whole := codeBits +& extraOf(codes(place))
      state := State.taking
    }
    is(State.taking) {
      when(head.has(whole)) {
        take := whole
        when(plain) {
          gives := true.B
          bits := symbol(3, 0)
          previous := symbol(3, 0)
          state := State.decode
        }.otherwise {
          when(symbol =/= 16.U) { previous := 0.U }
          repeats := count
          state := State.repeat
          when(index +& count > total || (symbol === 16.U && index === 0.U)) { fail() }
        }
      }.elsewhen(head.lacks(whole)) { fail() }
    }
    is(State.repeat) {
      gives := true.B
      repeats := repeats - 1.U
      when(repeats === 1.U) { state := State.decode }
    }
    is(State.finish) { state := State.check }
    is(State.check) {
      val badLiterals = literals.oversubscribed || (literals.incomplete && !literals.single)
      val badDistances = distances.oversubscribed || (distances.incomplete && !distances.single && !distances.empty)
      when(literals.done && distances.done) { state := Mux(badLiterals || badDistances, State.wrong, State.done) }
    }
    is(State.done) { state := State.idle }
  }
  when(start) { state := State.counts }
  when(clear) { state := State.idle }

  literal := literals.code
  distance := distances.code
  literalPlace := literals.place
  distancePlace := distances.place
  done := state === State.done
  wrong := state === State.wrong
}

object CodeReader {

  /** The code of the lengths of codes. */
  val codeSymbols: Int = 19
  val codeMostBits: Int = 7

  /** The order in which its lengths are given. */
  val order: Seq[Int] = Seq(16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15)
}
