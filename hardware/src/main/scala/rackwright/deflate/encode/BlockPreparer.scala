package rackwright.deflate.encode

import chisel3._
import chisel3.util._

import rackwright.deflate.TokenFormat
import rackwright.entropy.huffman.{
  CountedLiterals,
  HuffmanAssignment,
  HuffmanCodeMaker,
  HuffmanWord,
  LiteralHistogram,
  WordOrder
}
import rackwright.memory.Sram

/** The three types of blocks (RFC 1951, section 3.2.3). */
object BlockKind {
  val stored: Int = 0
  val fixed: Int = 1
  val dynamic: Int = 2
  val bits: Int = 2
}

/** A block whose codes have been built, if it has codes of its own. */
class PreparedBlock(params: DeflateCompressorParams) extends Bundle {
  val kind = UInt(BlockKind.bits.W)
  val tokens = UInt(params.tokenBits.W)
  val bytes = UInt(params.countBits.W)
  val last = Bool()
  val slot = UInt(log2Ceil(params.slots).W)

  /** Number of strings in the description of its codes. */
  val strings = UInt(CodeDescriber.placeBits.W)

  /** The half of the tables that holds its codes. */
  val half = Bool()
}

/** The code lengths of an alphabet, which are read to describe the code; 0 for an unused symbol. */
class CodeLengths(symbols: Int) extends Module {
  private val symbolBits = log2Ceil(symbols)

  /** Starts a code without symbols. */
  val clear = IO(Input(Bool()))
  val word = IO(Flipped(Valid(new HuffmanAssignment(symbolBits, DeflateCompressorParams.mostBits))))

  /** A symbol, whose length is valid in the next cycle. */
  val place = IO(Flipped(Valid(UInt(log2Ceil(TokenFormat.literalSymbols).W))))
  val length = IO(Output(UInt(4.W)))

  private val lengths = Sram(symbols, UInt(4.W))
  private val known = RegInit(0.U(symbols.W))
  when(word.valid) {
    lengths.write(word.bits.symbol, word.bits.word.length)
    known := known.bitSet(word.bits.symbol, true.B)
  }
  when(clear) { known := 0.U }
  private val symbol = place.bits(symbolBits - 1, 0)
  length := Mux(RegNext(known(symbol)), lengths.read(symbol, place.valid), 0.U)
}

/** A code word to write into the tables of the block, and its index. */
class TableWord(symbols: Int) extends Bundle {
  val half = Bool()
  val symbol = UInt(log2Ceil(symbols).W)
  val word = new HuffmanWord(DeflateCompressorParams.mostBits)
}

/** Builds the codes of a block from its counts, writes their description, and selects the shortest type of block. A
  * short block at the end of the input gets no codes of its own: building them would take longer than everything else.
  */
class BlockPreparer(params: DeflateCompressorParams) extends Module {
  import BlockPreparer.State
  import DeflateCompressorParams.mostBits

  /** Accepted when it has been counted, or at once if no counts are needed. What is counted after that belongs to the
    * next block.
    */
  val block = IO(Flipped(Decoupled(new CollectedBlock(params))))
  val counted = IO(Flipped(Valid(new CountedLiterals)))

  val prepared = IO(Decoupled(new PreparedBlock(params)))

  /** Code words and description strings to write into the half of the tables that the block will use. */
  val literalWord = IO(Valid(new TableWord(TokenFormat.literalSymbols)))
  val distanceWord = IO(Valid(new TableWord(TokenFormat.distanceSymbols)))
  val string = IO(Valid(new DescriptionString))
  val half = IO(Output(Bool()))

  private val state = RegInit(State.idle)
  private val current = Reg(new PreparedBlock(params))
  private val side = RegInit(false.B)
  private val histogram = Module(new LiteralHistogram(params.countBits))
  private val literalMaker = Module(
    new HuffmanCodeMaker(params.countBits, TokenFormat.describedLiterals, mostBits, WordOrder.ShortestLowest)
  )
  private val distanceMaker = Module(
    new HuffmanCodeMaker(params.countBits, TokenFormat.describedDistances, mostBits, WordOrder.ShortestLowest)
  )
  private val describer = Module(new CodeDescriber)
  private def enters(target: State.Type): Bool = state === target && RegNext(state =/= target, false.B)

  // First the counts of bytes; then those of end-of-block and lengths, in parallel with those of distances.
  private val arrives = state === State.idle && block.valid
  private val isShort = arrives && block.bits.last && block.bits.bytes <= BlockPreparer.shortBytes.U
  private val begins = arrives && !isShort
  histogram.counted := counted
  histogram.gather := begins
  private val gathered = state === State.bytes && !enters(State.bytes) && !histogram.busy
  private val at = Reg(UInt(5.W))
  private val feeding = state === State.matches && at =/= TokenFormat.describedDistances.U
  private val fed = RegNext(feeding, false.B)
  private val fedAt = RegNext(at)
  private val ends = 1.U(params.countBits.W)
  private val lengthCount = RegNext(VecInit(ends +: block.bits.lengths.map(_.pad(params.countBits)))(at))
  private val distanceCount = RegNext(block.bits.distances(at))
  // A distance code has at least two words, so that it is complete.
  private val few = RegNext(PopCount(block.bits.distances.map(_ =/= 0.U)) < 2.U)
  literalMaker.start := begins
  literalMaker.count.valid := histogram.count.valid || fed
  literalMaker.count.bits.symbol := Mux(fed, TokenFormat.endOfBlock.U + fedAt, histogram.count.bits.symbol)
  literalMaker.count.bits.count := Mux(fed, lengthCount, histogram.count.bits.count)
  distanceMaker.start := begins
  distanceMaker.count.valid := fed
  distanceMaker.count.bits.symbol := fedAt
  distanceMaker.count.bits.count := Mux(few && fedAt < 2.U && distanceCount === 0.U, 1.U, distanceCount)
  private val allFed = state === State.matches && !feeding && !fed
  literalMaker.finish := allFed
  distanceMaker.finish := allFed
  private val taken = allFed || isShort
  block.ready := taken

  // The code lengths are stored for the description.
  private val literalLengths = Module(new CodeLengths(TokenFormat.literalSymbols))
  private val distanceLengths = Module(new CodeLengths(TokenFormat.distanceSymbols))
  for ((lengths, maker) <- Seq(literalLengths -> literalMaker, distanceLengths -> distanceMaker)) {
    lengths.clear := begins
    lengths.word.valid := maker.word.valid
    lengths.word.bits.symbol := maker.word.bits.symbol
    lengths.word.bits.word := maker.word.bits.word
    lengths.place.valid := describer.place.valid
    lengths.place.bits := describer.place.bits.symbol
  }
  private val asksDistance = RegNext(describer.place.bits.isDistance)
  describer.length := RegNext(Mux(asksDistance, distanceLengths.length, literalLengths.length))
  for ((output, maker) <- Seq(literalWord -> literalMaker, distanceWord -> distanceMaker)) {
    output.valid := maker.word.valid
    output.bits.half := side
    output.bits.symbol := maker.word.bits.symbol
    output.bits.word := maker.word.bits.word
  }
  string := describer.string
  half := side

  // The size of each type of block.
  private val literalsMade = Reg(Bool())
  private val distancesMade = Reg(Bool())
  when(begins) {
    literalsMade := false.B
    distancesMade := false.B
  }.otherwise {
    when(literalMaker.done) { literalsMade := true.B }
    when(distanceMaker.done) { distancesMade := true.B }
  }
  private val extraBits = Reg(UInt(block.bits.extraBits.getWidth.W))
  private val fixedCodeBits = Reg(UInt(block.bits.fixedBits.getWidth.W))
  private val made = RegNext(literalMaker.summary.bits +& distanceMaker.summary.bits)
  private val dynamicBits = RegNext(made +& RegNext(describer.bits +& extraBits))
  private val fixedBits = RegNext(fixedCodeBits +& (extraBits +& FixedCode.endBits.U))
  private val storedBits = RegNext((current.bytes << 3) +& BlockPreparer.storedHeadBits.U)
  private val counts = Reg(Bool())
  private val hasCode = RegNext(counts && literalMaker.summary.used >= 2.U)
  private val fixedWins = RegNext(!hasCode || fixedBits <= dynamicBits)
  private val storedLess = RegNext(storedBits < Mux(fixedWins, fixedBits, dynamicBits))
  private val waited = RegInit(0.U(3.W))
  private val decided = waited === 7.U
  waited := Mux(state === State.decide, waited + 1.U, 0.U)

  when(taken) {
    current.tokens := block.bits.tokens
    current.bytes := block.bits.bytes
    current.last := block.bits.last
    current.slot := block.bits.slot
    extraBits := block.bits.extraBits
    fixedCodeBits := block.bits.fixedBits
    counts := !isShort
  }

  describer.start := state === State.describe
  describer.lastLiteral := literalMaker.summary.last
  describer.lastDistance := distanceMaker.summary.last
  describer.write := enters(State.write)
  prepared.valid := state === State.offer
  prepared.bits := current
  prepared.bits.strings := describer.strings
  prepared.bits.half := side
  switch(state) {
    is(State.idle) { when(begins) { state := State.bytes }.elsewhen(isShort) { state := State.decide } }
    is(State.bytes) {
      at := 0.U
      when(gathered) { state := State.matches }
    }
    is(State.matches) {
      when(feeding) { at := at + 1.U }
      when(allFed) { state := State.make }
    }
    is(State.make) { when(literalsMade && distancesMade) { state := Mux(hasCode, State.describe, State.decide) } }
    is(State.describe) { state := State.measure }
    is(State.measure) { when(describer.ready) { state := State.decide } }
    is(State.decide) {
      current.kind := Mux(storedLess, BlockKind.stored.U, Mux(fixedWins, BlockKind.fixed.U, BlockKind.dynamic.U))
      when(decided) { state := Mux(storedLess || fixedWins, State.offer, State.write) }
    }
    is(State.write) { when(describer.done && !enters(State.write)) { state := State.offer } }
    is(State.offer) {
      when(prepared.fire) {
        side := !side
        state := State.idle
      }
    }
  }
}

object BlockPreparer {

  /** A last block of up to this many bytes gets no codes of its own. */
  val shortBytes: Int = 1024

  /** The most overhead bits of a stored block: header, padding to the next byte, two length fields. */
  val storedHeadBits: Int = 3 + 7 + 32

  /** `bytes` and `matches` feed counts to the code builders; `describe` starts the description that `measure` waits
    * for.
    */
  object State extends ChiselEnum {
    val idle, bytes, matches, make, describe, measure, decide, write, offer = Value
  }
}
