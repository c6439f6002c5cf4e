package rackwright.deflate.encode

import chisel3._
import chisel3.util._

import rackwright.deflate.TokenFormat
import rackwright.entropy.huffman.CountedLiterals
import rackwright.lz77.encode.{EncoderParams, Sequence}

/** A token: a copy, which may be empty, followed by literals. */
class Token(params: DeflateCompressorParams) extends Bundle {
  val matched = Bool()

  /** The length minus 3, the distance minus 1. */
  val lengthRest = UInt(8.W)
  val distanceRest = UInt(15.W)
  val literals = UInt(params.encoder.literalBits.W)
}

/** A token to write to the store. */
class TokenPlace(params: DeflateCompressorParams) extends Bundle {
  val place = UInt(TokenPlace.bits(params).W)
  val token = new Token(params)
}

object TokenPlace {

  /** Width of a store address: a slot, then an index in the block. */
  def bits(params: DeflateCompressorParams): Int = log2Ceil(params.slots) + log2Ceil(params.tokensMost)
}

/** A block whose tokens are in the store, with its counts. */
class CollectedBlock(params: DeflateCompressorParams) extends Bundle {
  val tokens = UInt(params.tokenBits.W)
  val bytes = UInt(params.countBits.W)
  val last = Bool()
  val slot = UInt(log2Ceil(params.slots).W)

  /** Number of occurrences of each length and distance symbol, and the total of their extra bits. */
  val lengths = Vec(TokenFormat.lengthCodes, UInt(params.tokenBits.W))
  val distances = Vec(TokenFormat.describedDistances, UInt(params.tokenBits.W))
  val extraBits = UInt((params.tokenBits + 5).W)

  /** Size in bits of the block with the fixed codes, without extra bits and end of block. */
  val fixedBits = UInt((params.countBits + 4).W)
}

/** Collects the output of the LZ77 encoder into blocks: merges the parts of long matches, stores tokens, and counts
  * symbols. While one block gets its codes and another is written, the next is collected in a third slot of the store.
  */
class TokenCollector(params: DeflateCompressorParams) extends Module {
  import CountedLiterals.lanes
  import TokenCollector.{settlingCycles, State}

  val sequence = IO(Flipped(Decoupled(new Sequence(params.encoder))))
  val literals = IO(Input(UInt((8 * params.literalReadBytes).W)))
  val consume = IO(Output(UInt(log2Ceil(params.literalReadBytes + 1).W)))

  /** Held until accepted; the next slot is free from then on. */
  val block = IO(Decoupled(new CollectedBlock(params)))
  val token = IO(Valid(new TokenPlace(params)))
  val counted = IO(Valid(new CountedLiterals))

  private val state = RegInit(State.collecting)
  private val slot = RegInit(0.U(log2Ceil(params.slots).W))
  private val settled = RegInit(0.U(log2Ceil(settlingCycles).W))
  private val bytes = RegInit(0.U(params.countBits.W))
  private val tokens = RegInit(0.U(params.tokenBits.W))

  // The last output of the encoder, whose literals are extracted four per cycle.
  private val present = RegInit(false.B)
  private val last = RegInit(false.B)
  private val left = Reg(UInt(params.encoder.literalBits.W))
  private val complete = left <= lanes.U
  private val full = bytes >= params.blockLimit.U || tokens >= (params.tokensMost - 8).U
  private val closes = full || last
  private val found = sequence.bits
  sequence.ready := state === State.collecting && !closes && (!present || complete)
  when(present) {
    left := left - lanes.U
    when(complete) { present := false.B }
  }
  when(sequence.fire) {
    present := true.B
    left := found.literals
    last := found.last
    bytes := bytes + found.matchLength + found.literals
  }
  private val taking = RegNext(present && left =/= 0.U, false.B)
  private val takes = RegNext(Mux(complete, left, lanes.U))
  consume := Mux(taking, takes, 0.U)
  counted.valid := RegNext(taking, false.B)
  counted.bits.data := RegNext(literals(8 * lanes - 1, 0))
  counted.bits.count := RegNext(takes)

  // Merges the parts of a match up to the longest length.
  private val isOpen = RegInit(false.B)
  private val openMatch = Reg(UInt(9.W))
  private val openDistance = Reg(UInt(EncoderParams.distanceBits.W))
  private val openLiterals = Reg(UInt(params.encoder.literalBits.W))
  private val joined = openMatch +& found.matchLength
  private val continues = isOpen && openLiterals === 0.U && openMatch =/= 0.U && found.matchLength =/= 0.U &&
    found.distance === openDistance && joined <= TokenFormat.longest.U
  private val closing = state === State.collecting && closes && (!present || complete)
  private val made = isOpen && (closing || sequence.fire && !continues)
  when(sequence.fire) {
    isOpen := found.matchLength =/= 0.U || found.literals =/= 0.U
    openMatch := Mux(continues, joined, found.matchLength)
    openDistance := found.distance
    openLiterals := found.literals
  }
  when(closing) {
    isOpen := false.B
    settled := 0.U
    state := State.settling
  }

  // Stores tokens and counts symbols.
  private val making = RegNext(made, false.B)
  private val entry = Reg(new Token(params))
  entry.matched := openMatch =/= 0.U
  entry.lengthRest := openMatch - TokenFormat.shortest.U
  entry.distanceRest := openDistance - 1.U
  entry.literals := openLiterals
  token.valid := making
  token.bits.place := Cat(slot, tokens(log2Ceil(params.tokensMost) - 1, 0))
  token.bits.token := entry
  when(making) { tokens := tokens + 1.U }
  private val coding = RegNext(making && entry.matched, false.B)
  private val index = RegNext(TokenFormat.lengthIndex(entry.lengthRest))
  private val symbol = RegNext(TokenFormat.distanceSymbol(entry.distanceRest))
  private val summing = RegNext(coding, false.B)
  private val extra = RegNext(TokenFormat.lengthExtraBits(index) +& TokenFormat.distanceExtraBits(symbol))
  private val lengths = RegInit(VecInit.fill(TokenFormat.lengthCodes)(0.U(params.tokenBits.W)))
  private val distances = RegInit(VecInit.fill(TokenFormat.describedDistances)(0.U(params.tokenBits.W)))
  private val extraBits = RegInit(0.U(block.bits.extraBits.getWidth.W))
  when(coding) {
    lengths(index) := lengths(index) + 1.U
    distances(symbol) := distances(symbol) + 1.U
  }
  when(summing) { extraBits := extraBits + extra }

  // The size with the fixed codes.
  private val literalBits = FixedCode.bits(counted.bits)
  private val matchBits = RegNext(FixedCode.matchBits(index))
  private val fixedBits = RegInit(0.U(block.bits.fixedBits.getWidth.W))
  fixedBits := fixedBits + Mux(RegNext(counted.valid, false.B), RegNext(literalBits), 0.U) +
    Mux(summing, matchBits, 0.U)

  block.valid := state === State.offering
  block.bits.tokens := tokens
  block.bits.bytes := bytes
  block.bits.last := last
  block.bits.slot := slot
  block.bits.lengths := lengths
  block.bits.distances := distances
  block.bits.extraBits := extraBits
  block.bits.fixedBits := fixedBits
  when(state === State.settling) {
    settled := settled + 1.U
    when(settled === (settlingCycles - 1).U) { state := State.offering }
  }
  when(block.fire) {
    slot := Mux(slot === (params.slots - 1).U, 0.U, slot + 1.U)
    bytes := 0.U
    tokens := 0.U
    for (counter <- lengths ++ distances ++ Seq(extraBits, fixedBits)) counter := 0.U
    state := Mux(last, State.ended, State.collecting)
  }
}

/** Constants of the structure. */
object TokenCollector {

  /** Latency in cycles from extraction to the counts. */
  val settlingCycles: Int = 8

  /** `settling` waits for the pipeline to drain, `offering` for the block to be accepted; `ended` follows the last
    * block.
    */
  object State extends ChiselEnum {
    val collecting, settling, offering, ended = Value
  }
}
