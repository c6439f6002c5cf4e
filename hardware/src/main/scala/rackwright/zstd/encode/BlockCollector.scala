package rackwright.zstd.encode

import chisel3._
import chisel3.util._

import rackwright.entropy.huffman.CountedLiterals
import rackwright.lz77.encode.{EncoderParams, Sequence => FoundSequence}

/** A sequence ready to encode (RFC 8878, section 3.1.1.3.2.1.1): its codes, and the values whose low bits are the extra
  * bits.
  */
class CodedSequence extends Bundle {
  val literalsCode = UInt(6.W)
  val matchCode = UInt(6.W)
  val offsetCode = UInt(5.W)
  val literals = UInt(16.W)
  val matched = UInt(16.W)
  val offset = UInt(16.W)
}

/** A block whose literals and sequences are in the stores. */
class CollectedBlock(params: ZstdCompressorParams) extends Bundle {
  val literals = UInt(params.countBits.W)
  val sequences = UInt(params.sequenceBits.W)
  val last = Bool()

  /** All literals have the same value. */
  val uniform = Bool()

  /** The half of the stores that holds the block. */
  val half = Bool()
}

/** A word of literals to write to the store. */
class LiteralWord(params: ZstdCompressorParams) extends Bundle {
  val place = UInt((log2Ceil(params.blockBytes) - 1).W)
  val data = UInt((8 * BlockCollector.lanes).W)
}

/** A sequence to write to the store. */
class SequencePlace(params: ZstdCompressorParams) extends Bundle {
  val place = UInt((log2Ceil(params.sequencesMost) + 1).W)
  val sequence = new CodedSequence
}

/** Collects the output of the LZ77 encoder into blocks: merges the parts of long matches and of long runs of literals,
  * encodes offsets, and writes sequences and literals to the stores. The stores are double-buffered: while one block is
  * encoded, the next is collected in the other half.
  */
class BlockCollector(params: ZstdCompressorParams) extends Module {
  import BlockCollector.{lanes, settlingCycles, State}

  /** Starts a frame with these as the last three offsets. */
  val start = IO(Flipped(Valid(Vec(3, UInt(EncoderParams.distanceBits.W)))))
  val sequence = IO(Flipped(Decoupled(new FoundSequence(params.encoder))))
  val literals = IO(Input(UInt((8 * params.literalReadBytes).W)))
  val consume = IO(Output(UInt(log2Ceil(params.literalReadBytes + 1).W)))

  /** Held until accepted; the other half of the stores is free from then on. */
  val block = IO(Decoupled(new CollectedBlock(params)))
  val literalWord = IO(Valid(new LiteralWord(params)))
  val coded = IO(Valid(new SequencePlace(params)))
  val counted = IO(Valid(new CountedLiterals))

  private val state = RegInit(State.collecting)
  private val half = RegInit(false.B)
  private val settled = Reg(UInt(log2Ceil(settlingCycles + 1).W))
  private val bytes = RegInit(0.U(params.countBits.W))
  private val literalCount = RegInit(0.U(params.countBits.W))
  private val sequenceCount = RegInit(0.U(params.sequenceBits.W))

  // The last output of the encoder, whose literals are extracted four per cycle.
  private val present = RegInit(false.B)
  private val last = RegInit(false.B)
  private val left = Reg(UInt(params.encoder.literalBits.W))
  private val step = present
  private val complete = left <= lanes.U
  private val full = bytes >= params.blockLimit.U || sequenceCount >= (params.sequencesMost - 8).U
  private val closes = full || last
  private val found = sequence.bits
  sequence.ready := state === State.collecting && !closes && (!present || complete)
  when(step) {
    left := left - lanes.U
    when(complete) { present := false.B }
  }
  when(sequence.fire) {
    present := true.B
    left := found.literals
    last := found.last
    bytes := bytes + found.matchLength + found.literals
  }

  // Merges parts.
  private val open = Reg(new FoundMatch(params))
  private val isOpen = RegInit(false.B)
  private val run = RegInit(0.U(params.countBits.W))
  private val closing = state === State.collecting && closes && (!present || complete)
  private val continues = isOpen && run === 0.U && found.distance === open.distance
  private val made = Wire(Valid(new FoundMatch(params)))
  made.valid := isOpen && (closing || sequence.fire && found.matchLength =/= 0.U && !continues)
  made.bits := open
  when(sequence.fire) {
    when(found.matchLength === 0.U) {
      run := run + found.literals
    }.otherwise {
      run := found.literals
      isOpen := true.B
      open.matched := Mux(continues, open.matched, 0.U) + found.matchLength
      when(!continues) {
        open.literals := run
        open.distance := found.distance
      }
    }
  }
  when(closing) {
    isOpen := false.B
    run := 0.U
    settled := 0.U
    state := State.settling
  }

  // Sequences: offsets, codes, writes to the store.
  private val offsets = Module(new RepeatedOffsets(params))
  offsets.start := start
  offsets.found.valid := RegNext(made.valid, false.B)
  offsets.found.bits := RegNext(made.bits)
  private val rest = offsets.coded.bits.matched - 3.U
  private val coding = RegNext(offsets.coded.valid, false.B)
  private val numbers = RegEnable(offsets.coded.bits, offsets.coded.valid)
  private val matchRest = RegEnable(rest, offsets.coded.valid)
  private val entry = Wire(new CodedSequence)
  entry.literalsCode := LengthCodes.ofLiterals(numbers.literals)
  entry.matchCode := LengthCodes.ofMatch(matchRest)
  entry.offsetCode := Log2(numbers.offsetValue)
  entry.literals := numbers.literals
  entry.matched := matchRest
  entry.offset := numbers.offsetValue
  coded.valid := RegNext(coding, false.B)
  coded.bits.sequence := RegNext(entry)
  coded.bits.place := Cat(half, sequenceCount(log2Ceil(params.sequencesMost) - 1, 0))
  when(coded.valid) { sequenceCount := sequenceCount + 1.U }

  // Literals: extracted, packed, written to the store.
  private val taking = RegNext(step && left =/= 0.U, false.B)
  private val takes = RegNext(Mux(complete, left, lanes.U))
  consume := Mux(taking, takes, 0.U)
  counted.valid := RegNext(taking, false.B)
  counted.bits.data := RegNext(literals(8 * lanes - 1, 0))
  counted.bits.count := RegNext(takes)
  private val packer = Module(new LiteralPacker)
  packer.flush := state === State.settling && settled === (settlingCycles - 2).U
  packer.input := counted
  literalWord.valid := packer.word.valid
  literalWord.bits.data := packer.word.bits
  literalWord.bits.place := Cat(half, packer.place(log2Ceil(params.blockBytes / lanes) - 1, 0))
  private val firstLiteral = Reg(UInt(8.W))
  private val uniform = RegInit(true.B)
  when(counted.valid) {
    literalCount := literalCount + counted.bits.count
    val first = Mux(literalCount === 0.U, counted.bits.data(7, 0), firstLiteral)
    val differs = VecInit.tabulate(lanes) { lane =>
      counted.bits.count > lane.U && counted.bits.data(8 * lane + 7, 8 * lane) =/= first
    }
    firstLiteral := first
    when(differs.asUInt.orR) { uniform := false.B }
  }

  block.valid := state === State.offering
  block.bits.literals := literalCount
  block.bits.sequences := sequenceCount
  block.bits.last := last
  block.bits.uniform := uniform
  block.bits.half := half
  packer.clear := block.fire
  when(state === State.settling) {
    settled := settled + 1.U
    when(settled === (settlingCycles - 1).U) { state := State.offering }
  }
  when(block.fire) {
    half := !half
    bytes := 0.U
    literalCount := 0.U
    sequenceCount := 0.U
    uniform := true.B
    state := Mux(last, State.ended, State.collecting)
  }
}

/** Constants of the structure. */
object BlockCollector {

  /** Literals extracted per cycle. */
  val lanes: Int = CountedLiterals.lanes

  /** Latency in cycles from extraction to the stores. */
  val settlingCycles: Int = 8

  /** `settling` waits for the pipeline to drain, `offering` for the block to be accepted; `ended` follows the last
    * block.
    */
  object State extends ChiselEnum {
    val collecting, settling, offering, ended = Value
  }
}

/** Packs up to four literals per cycle into words. */
class LiteralPacker extends Module {
  import BlockCollector.lanes

  val input = IO(Flipped(Valid(new CountedLiterals)))

  /** Emits an incomplete word. */
  val flush = IO(Input(Bool()))
  val clear = IO(Input(Bool()))
  val word = IO(Valid(UInt((8 * lanes).W)))

  /** Index of the word in the block. */
  val place = IO(Output(UInt(16.W)))

  private val held = RegInit(0.U((8 * lanes).W))
  private val count = RegInit(0.U(log2Ceil(lanes).W))
  private val number = RegInit(0.U(16.W))
  private val mask = VecInit.tabulate(lanes)(i => Fill(8, input.bits.count > i.U)).asUInt
  private val joined = held | ((input.bits.data & mask) << Cat(count, 0.U(3.W)))
  private val total = count +& input.bits.count
  private val full = input.valid && total >= lanes.U
  word.valid := full || (flush && count =/= 0.U)
  word.bits := Mux(full, joined(8 * lanes - 1, 0), held)
  place := number
  when(input.valid) {
    held := Mux(full, joined >> (8 * lanes), joined)
    count := total
  }
  when(word.valid) { number := number + 1.U }
  when(clear) {
    held := 0.U
    count := 0.U
    number := 0.U
  }
}
