package rackwright.deflate.encode

import chisel3._
import chisel3.util._

import rackwright.deflate.TokenFormat
import rackwright.entropy.bits.BitString
import rackwright.entropy.huffman.{HuffmanCodeMaker, HuffmanWord, WordOrder}

/** A string of the code description, to write into its store. */
class DescriptionString extends Bundle {
  val place = UInt(CodeDescriber.placeBits.W)
  val string = new BitString(CodeDescriber.mostBits)
}

/** Describes the codes of a block (RFC 1951, section 3.2.7): counts the items of the description, builds the code
  * length code, and reports the size of the description; then writes it on request.
  */
class CodeDescriber extends Module {
  import CodeDescriber._
  import CodeLengthRuns.symbols

  /** Starts; the last symbol of each code, which must be held. */
  val start = IO(Input(Bool()))
  val lastLiteral = IO(Input(UInt(log2Ceil(TokenFormat.literalSymbols).W)))
  val lastDistance = IO(Input(UInt(log2Ceil(TokenFormat.distanceSymbols).W)))

  /** Same contract as the port of [[CodeLengthRuns]]. */
  val place = IO(Valid(new CodeLengthPlace))
  val length = IO(Input(UInt(4.W)))

  /** The size of the description is valid, and writing may start. */
  val ready = IO(Output(Bool()))
  val bits = IO(Output(UInt(14.W)))
  val write = IO(Input(Bool()))
  val string = IO(Valid(new DescriptionString))

  /** Number of strings written; the second signal: all have been. */
  val strings = IO(Output(UInt(placeBits.W)))
  val done = IO(Output(Bool()))

  private val state = RegInit(State.idle)
  private val runs = Module(new CodeLengthRuns)
  private val maker = Module(
    new HuffmanCodeMaker(countBits, symbols, DeflateCompressorParams.mostDescribingBits, WordOrder.ShortestLowest)
  )
  private val counts = Reg(Vec(symbols, UInt(countBits.W)))
  private val words = Reg(Vec(symbols, new HuffmanWord(DeflateCompressorParams.mostDescribingBits)))
  private val extraBits = Reg(UInt(12.W))
  private val at = Reg(UInt(5.W))
  // The number of code length code lengths that the description holds.
  private val told = RegNext(
    PriorityMux((symbols to leastTold by -1).map(n =>
      (words(CodeLengthRuns.order(n - 1)).length =/= 0.U || (n == leastTold).B) -> n.U(5.W)
    ))
  )
  private def enters(target: State.Type): Bool = state === target && RegNext(state =/= target, false.B)

  runs.start.valid := start || (state === State.lengths && at === told)
  runs.start.bits.literal := lastLiteral
  runs.start.bits.distance := lastDistance
  place := runs.place
  runs.length := length

  // Counts the items, and builds the code length code.
  when(state === State.count && runs.item.valid) {
    counts(runs.item.bits.symbol) := counts(runs.item.bits.symbol) + 1.U
    extraBits := extraBits + runs.item.bits.extraBits
  }
  maker.start := enters(State.feed)
  private val feeding = state === State.feed && !enters(State.feed) && at =/= symbols.U
  maker.count.valid := RegNext(feeding, false.B)
  maker.count.bits.symbol := RegNext(at)
  maker.count.bits.count := RegNext(counts(at))
  maker.finish := enters(State.make)
  when(maker.word.valid) { words(maker.word.bits.symbol) := maker.word.bits.word }

  bits := RegNext((maker.summary.bits +& extraBits) +& (headBits.U +& told * describingLengthBits.U))
  ready := state === State.ready

  // Writes the description.
  private val toldLengths = RegNext(VecInit(CodeLengthRuns.order.map(words(_).length(2, 0)))(at))
  private val tellsLength = RegNext(state === State.lengths && at =/= told, false.B)
  private val itemWord = RegNext(words(runs.item.bits.symbol))
  private val item = RegNext(runs.item.bits)
  private val hasItem = RegNext(runs.item.valid && state === State.items, false.B)
  private val hasHead = state === State.head
  private val next = Reg(UInt(placeBits.W))
  string.valid := hasHead || tellsLength || hasItem
  string.bits.place := next
  private val output = string.bits.string
  when(hasHead) {
    output.value := Cat((told - leastTold.U)(3, 0), lastDistance, (lastLiteral - TokenFormat.endOfBlock.U)(4, 0))
    output.count := headBits.U
  }.elsewhen(tellsLength) {
    output.value := toldLengths
    output.count := describingLengthBits.U
  }.otherwise {
    output.value := itemWord.code | (item.extra << itemWord.length)
    output.count := itemWord.length +& item.extraBits
  }
  when(string.valid) { next := next + 1.U }
  strings := next
  done := state === State.done

  switch(state) {
    is(State.count) {
      at := 0.U
      when(runs.done) { state := State.feed }
    }
    is(State.feed) {
      when(feeding) { at := at + 1.U }
      when(at === symbols.U && !maker.count.valid) { state := State.make }
    }
    is(State.make) { when(maker.done) { state := State.settle } }
    is(State.settle) {
      at := at + 1.U
      when(at === (symbols + 3).U) { state := State.ready }
    }
    is(State.ready) {
      at := 0.U
      next := 0.U
      when(write) { state := State.head }
    }
    is(State.head) { state := State.lengths }
    is(State.lengths) {
      at := at + 1.U
      when(at === told) { state := State.items }
    }
    is(State.items) { when(runs.done) { state := State.done } }
  }
  when(start) {
    counts.foreach(_ := 0.U)
    words.foreach(_ := 0.U.asTypeOf(words(0)))
    extraBits := 0.U
    state := State.count
  }
}

/** Constants of the format. */
object CodeDescriber {

  /** The most items of a description, and the width of their count. */
  val itemsMost: Int = TokenFormat.describedLiterals + TokenFormat.describedDistances
  val countBits: Int = log2Ceil(itemsMost + 1)

  /** Width of the three header fields; length of each code length; the fewest of these lengths. */
  val headBits: Int = 14
  val describingLengthBits: Int = 3
  val leastTold: Int = 4

  /** The longest string: the header fields, or a code with its extra bits. */
  val mostBits: Int = 14
  val placeBits: Int = log2Ceil(itemsMost + CodeLengthRuns.symbols + 2)

  /** `count` and `items` traverse the code lengths; `feed` and `make` build the code length code, `settle` computes the
    * size of the description; `head` to `items` write it.
    */
  object State extends ChiselEnum {
    val idle, count, feed, make, settle, ready, head, lengths, items, done = Value
  }
}
