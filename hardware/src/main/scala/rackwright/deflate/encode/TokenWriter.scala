package rackwright.deflate.encode

import chisel3._
import chisel3.util._

import rackwright.deflate.TokenFormat
import rackwright.entropy.bits.BitString
import rackwright.entropy.huffman.HuffmanWord
import rackwright.memory.Sram

/** Converts the tokens of a block to bits: up to a copy and four literals per cycle.
  *
  * Literals are read from the input ring while lengths and distances are mapped to symbols; code words are looked up in
  * the block's half of the tables, taken from the fixed codes, or replaced by plain bytes; then they are concatenated.
  */
class TokenWriter(params: DeflateCompressorParams) extends Module {
  import DeflateCompressorParams.{lanes, mostBits, stringBits}

  val start = IO(Flipped(Valid(new TokenRange(params))))

  /** The type of the block and its half of the tables, held while it is written. */
  val kind = IO(Input(UInt(BlockKind.bits.W)))
  val half = IO(Input(Bool()))
  val enable = IO(Input(Bool()))
  val literalWord = IO(Flipped(Valid(new TableWord(TokenFormat.literalSymbols))))
  val distanceWord = IO(Flipped(Valid(new TableWord(TokenFormat.distanceSymbols))))

  /** Same contract as the port of [[TokenCutter]]. */
  val read = IO(Valid(UInt(TokenPlace.bits(params).W)))
  val token = IO(Input(new Token(params)))

  /** Same contract as the port of [[InputRing]]. */
  val place = IO(Valid(UInt(log2Ceil(params.keptBytes).W)))
  val literals = IO(Input(UInt((8 * lanes).W)))
  val bits = IO(Valid(new BitString(stringBits)))

  /** All bits have been emitted. */
  val done = IO(Output(Bool()))

  private val steps = Module(new TokenCutter(params))
  steps.start := start
  steps.enable := enable
  read := steps.read
  steps.token := token
  private val step = steps.step
  place.valid := step.valid
  place.bits := step.bits.place

  // Maps lengths and distances to symbols while literals are read.
  private val readCycles = 3
  private val index = RegNext(TokenFormat.lengthIndex(step.bits.lengthRest))
  private val symbol = RegNext(TokenFormat.distanceSymbol(step.bits.distanceRest))
  private val matchedNow = RegNext(step.bits.matched)
  private val stepNow = RegNext(step.bits)
  private val lengthBits = RegNext(Mux(matchedNow, TokenFormat.lengthExtraBits(index), 0.U))
  private val distanceBits = RegNext(Mux(matchedNow, TokenFormat.distanceExtraBits(symbol), 0.U))
  private val lengthExtra = RegNext(stepNow.lengthRest(TokenFormat.lengthExtra - 1, 0))
  private val distanceExtra = RegNext(stepNow.distanceRest(TokenFormat.distanceExtra - 1, 0))
  private val hasLength = RegNext(matchedNow || stepNow.ends)
  private val hasDistance = RegNext(matchedNow)
  // The table has the end of block before the lengths.
  private val lengthPlace = RegNext(Mux(matchedNow, index + 1.U, 0.U)(4, 0))
  private val distancePlace = RegNext(symbol)

  // Code table lookup.
  private val looking = ShiftRegister(step.valid, readCycles, false.B, true.B)
  private val count = ShiftRegister(step.bits.literals, readCycles)
  private def aligned[T <: Data](value: T): T = RegNext(value)
  private val bytes = Seq.tabulate(lanes)(lane => literals(8 * lane + 7, 8 * lane))
  private val words = bytes.zipWithIndex.map { case (byte, lane) =>
    val memory = Sram(512, new HuffmanWord(mostBits))
    when(literalWord.valid && !literalWord.bits.symbol(8)) {
      memory.write(Cat(literalWord.bits.half, literalWord.bits.symbol(7, 0)), literalWord.bits.word)
    }
    val own = memory.read(Cat(half, byte), looking)
    val fixed = RegNext(FixedCode.literal(byte))
    val plain = Wire(new HuffmanWord(mostBits))
    plain.code := RegNext(byte)
    plain.length := 8.U
    chosen(own, fixed, plain, RegNext(count > lane.U))
  }
  private val lengthWord = {
    val memory = Sram(64, new HuffmanWord(mostBits))
    when(literalWord.valid && literalWord.bits.symbol(8)) {
      memory.write(Cat(literalWord.bits.half, literalWord.bits.symbol(4, 0)), literalWord.bits.word)
    }
    val at = aligned(lengthPlace)
    val own = memory.read(Cat(half, at), looking)
    val fixed = RegNext(FixedCode.literal(Cat(8.U(4.W), at)))
    chosen(own, fixed, fixed, RegNext(aligned(hasLength)))
  }
  private val distance = {
    val memory = Sram(64, new HuffmanWord(mostBits))
    when(distanceWord.valid) {
      memory.write(Cat(distanceWord.bits.half, distanceWord.bits.symbol), distanceWord.bits.word)
    }
    val at = aligned(distancePlace)
    val own = memory.read(Cat(half, at), looking)
    val fixed = RegNext(FixedCode.distance(at))
    chosen(own, fixed, fixed, RegNext(aligned(hasDistance)))
  }

  /** The word for the type of the block; empty if there is nothing to write. */
  private def chosen(own: HuffmanWord, fixed: HuffmanWord, plain: HuffmanWord, exists: Bool): HuffmanWord = {
    val result = Reg(new HuffmanWord(mostBits))
    val word = MuxLookup(kind, own)(Seq(BlockKind.fixed.U -> fixed, BlockKind.stored.U -> plain))
    result.code := Mux(exists, word.code, 0.U)
    result.length := Mux(exists, word.length, 0.U)
    result
  }

  // Concatenates codes with their extra bits, and literals in pairs; then these two; then all.
  private def joined(low: BitString, high: BitString): BitString = {
    val result = Reg(new BitString(low.most + high.most))
    result.value := low.value | (high.value << low.count)
    result.count := low.count +& high.count
    result
  }
  private def string(most: Int, value: UInt, count: UInt): BitString = {
    val result = Wire(new BitString(most))
    result.value := value & VecInit.tabulate(most)(i => count > i.U).asUInt
    result.count := count
    result
  }
  private def wordString(word: HuffmanWord): BitString = {
    val result = Wire(new BitString(mostBits))
    result.value := word.code
    result.count := word.length
    result
  }
  private def lookedUp[T <: Data](value: T): T = ShiftRegister(value, 3)
  private val lengthString = string(TokenFormat.lengthExtra, lookedUp(lengthExtra), lookedUp(lengthBits))
  private val distanceString = string(TokenFormat.distanceExtra, lookedUp(distanceExtra), lookedUp(distanceBits))
  private val copy = joined(joined(wordString(lengthWord), lengthString), joined(wordString(distance), distanceString))
  private val pairs = words.map(wordString).grouped(2).map(pair => joined(pair(0), pair(1))).toSeq
  private val all = joined(copy, joined(pairs(0), pairs(1)))
  private val joinCycles = 3
  private val looked = ShiftRegister(looking, 2, false.B, true.B)
  private val giving = ShiftRegister(looked, joinCycles, false.B, true.B)
  bits.valid := giving
  bits.bits := all

  private val ended = RegInit(false.B)
  private val moving =
    Seq.iterate(step.valid, readCycles + 2 + joinCycles + 1)(valid => RegNext(valid, false.B)).reduce(_ || _)
  when(steps.done) { ended := true.B }
  when(start.valid) { ended := false.B }
  done := ended && !moving
}
