package rackwright.deflate.decode

import chisel3._
import chisel3.util._

import rackwright.deflate.TokenFormat._
import rackwright.entropy.huffman.{CanonicalCode, CanonicalCodeBuilder, CanonicalPlace}

/** Parses the description of the two codes of a block (RFC 1951, section 3.2.7) and builds them.
  *
  * Rejects what the reference library rejects: too many symbols, a repeat without a previous length or beyond the last
  * symbol, an oversubscribed or incomplete code (except a single distance code of one bit, or none), and a missing
  * end-of-block code.
  */
class CodeReader extends Module {
  import CodeLengthDecoder.{lanes, reach}

  /** A description starts with the next bit. */
  val start = IO(Input(Bool()))
  val clear = IO(Input(Bool()))
  val head = IO(Input(new BitHead))
  val take = IO(Output(UInt(6.W)))
  val literal = IO(Output(new CanonicalCode(mostBits, literalSymbols)))
  val distance = IO(Output(new CanonicalCode(mostBits, distanceSymbols)))
  val literalPlace = IO(Valid(new CanonicalPlace(literalSymbols)))
  val distancePlace = IO(Valid(new CanonicalPlace(distanceSymbols)))

  /** The codes are built; asserted for one cycle. */
  val done = IO(Output(Bool()))

  /** The description is invalid, or the input ends; held until `clear`. */
  val wrong = IO(Output(Bool()))

  private object State extends ChiselEnum {
    val idle, counts, lengths, assign, assigning, find, decode, repeat, skip, ended, finish, check, done, wrong = Value
  }
  private val state = RegInit(State.idle)
  private val decoder = Module(new CodeLengthDecoder)
  private val literals = Module(new CanonicalCodeBuilder(mostBits, literalSymbols))
  private val distances = Module(new CanonicalCodeBuilder(mostBits, distanceSymbols))

  private val literalCount = Reg(UInt(9.W))
  private val total = Reg(UInt(9.W))
  private val lastIndex = Reg(UInt(9.W))
  private val codeCount = Reg(UInt(5.W))
  private val index = Reg(UInt(9.W))
  private val previous = Reg(UInt(4.W))
  private val repeats = Reg(UInt(8.W))
  private val hasEnd = Reg(Bool())

  take := 0.U

  // The lengths of the code length code.
  private val grouped = Mux(codeCount > lanes.U, lanes.U, codeCount)
  private val groupBits = grouped +& Cat(grouped, 0.U(1.W))
  decoder.start := start
  decoder.group.valid := false.B
  decoder.group.bits := VecInit.tabulate(lanes)(i => Mux(codeCount > i.U, head.window(3 * i + 2, 3 * i), 0.U))
  decoder.build := state === State.assign
  decoder.window := head.window
  decoder.advance := false.B

  // A code of the description, and its extra bits.
  private val found = decoder.found
  private val symbol = found.symbol
  private val behind = (head.window >> found.codeBits)(6, 0)
  private val count = MuxLookup(symbol, behind +& 11.U)(
    Seq(16.U -> (behind(1, 0) +& 3.U), 17.U -> (behind(2, 0) +& 3.U))
  )

  /** Enough bits are available to find the next code, or the input ends. */
  private val enough = head.has(reach.U) || head.last
  private val gives = WireDefault(false.B)
  private val bits = WireDefault(previous)
  private val toLiterals = index < literalCount
  // Registered, since it is known late in the cycle; the codes are complete two cycles after the last length.
  for ((builder, mine, first) <- Seq((literals, toLiterals, 0.U), (distances, !toLiterals, literalCount))) {
    builder.start := start
    builder.length.valid := RegNext(gives && mine && bits =/= 0.U, false.B)
    builder.length.bits.length := RegNext(bits)
    builder.length.bits.symbol := RegNext(index - first)
    builder.finish := state === State.finish
  }
  private val isLast = index === lastIndex
  when(gives) {
    index := index + 1.U
    when(index === endOfBlock.U && bits =/= 0.U) { hasEnd := true.B }
  }

  private def fail(): Unit = state := State.wrong
  switch(state) {
    is(State.counts) {
      val (hlit, hdist) = (head.window(4, 0), head.window(9, 5))
      literalCount := hlit +& 257.U
      total := hlit +& hdist +& 258.U
      lastIndex := hlit +& hdist +& 257.U
      codeCount := head.window(13, 10) +& 4.U
      index := 0.U
      hasEnd := false.B
      when(head.has(14.U)) {
        take := 14.U
        state := State.lengths
        when(hlit > (describedLiterals - 257).U || hdist > (describedDistances - 1).U) { fail() }
      }.elsewhen(head.lacks(14.U)) { fail() }
    }
    is(State.lengths) {
      when(head.has(groupBits)) {
        take := groupBits
        decoder.group.valid := true.B
        codeCount := codeCount - grouped
        when(codeCount <= lanes.U) { state := State.assign }
      }.elsewhen(head.lacks(groupBits)) { fail() }
    }
    is(State.assign) { state := State.assigning }
    is(State.assigning) { when(decoder.done) { state := Mux(decoder.complete, State.find, State.wrong) } }
    is(State.find) {
      decoder.advance := enough
      when(enough) { state := State.decode }
    }
    is(State.decode) {
      when(enough) {
        take := found.whole
        decoder.advance := true.B
        when(symbol < 16.U) {
          gives := true.B
          bits := symbol(3, 0)
          previous := symbol(3, 0)
          when(isLast) { state := State.ended }
        }.otherwise {
          repeats := count
          state := State.skip
          when(symbol === 16.U) { state := State.repeat }.otherwise { previous := 0.U }
          when(symbol === 16.U && index === 0.U) { fail() }
        }
        when(head.lacks(found.whole)) {
          take := 0.U
          fail()
        }
      }
    }
    is(State.repeat) {
      gives := true.B
      repeats := repeats - 1.U
      when(repeats === 1.U) { state := State.decode }
      when(isLast) { state := Mux(repeats === 1.U, State.ended, State.wrong) }
    }
    is(State.skip) {
      val next = index +& repeats
      index := next
      state := Mux(next === total, State.ended, Mux(next > total, State.wrong, State.decode))
    }
    is(State.ended) { state := Mux(hasEnd, State.finish, State.wrong) }
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
