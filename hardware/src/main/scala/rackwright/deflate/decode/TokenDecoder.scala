package rackwright.deflate.decode

import chisel3._
import chisel3.util._

/** Decodes the codes of a block speculatively, `bits` bits per cycle: a code may start at each of these bits.
  *
  * [[TokenMeasure]] determines the candidate codes of either alphabet at each bit; [[TokenExits]] computes for every
  * entry into a chunk the entry into the next, so that the loop from chunk to chunk is a single selection;
  * [[TokenStarts]] marks the starts of codes; [[TokenSplitter]] divides chunks into parts with at most one copy, and
  * [[TokenValues]] computes their values. The stages up to the splitter advance or stall together.
  *
  * @param bits
  *   bits per cycle, 4 to 32.
  */
class TokenDecoder(bits: Int) extends Module {
  private val positionBits = InputBits.positionBits

  /** A block starts at this bit of the input; its chunks follow until `clear`. */
  val start = IO(Flipped(Valid(UInt(positionBits.W))))
  val clear = IO(Input(Bool()))
  val codes = IO(Input(new TokenCodes))
  val chunk = IO(Flipped(Decoupled(new TokenChunk(bits))))

  /** The consumers have space for literals and sequences, and for the results of five more cycles. */
  val roomy = IO(Input(Bool()))
  val literals = IO(Valid(Vec(bits, UInt(8.W))))
  val literalCount = IO(Output(UInt(log2Ceil(bits + 1).W)))
  val sequence = IO(Valid(new TokenSequence))

  /** Held until `clear`: the whole block has been decoded; it ends with an invalid code; the bit after it. */
  val done = IO(Output(Bool()))
  val wrong = IO(Output(Bool()))
  val end = IO(Output(UInt(positionBits.W)))

  private val waiting = Module(new Queue(new MarkedChunk(bits), 4, hasFlush = true))
  private val advance = RegNext(waiting.io.count <= 2.U, false.B)
  private val measure = Module(new TokenMeasure(bits))
  private val exits = Module(new TokenExits(bits))
  private val starts = Module(new TokenStarts(bits))
  private val splitter = Module(new TokenSplitter(bits))
  private val values = Module(new TokenValues(bits))

  measure.advance := advance
  exits.advance := advance
  starts.advance := advance
  Seq(measure.clear, exits.clear, starts.clear, splitter.clear, values.clear).foreach(_ := clear)
  waiting.io.flush.get := clear
  measure.codes := codes

  chunk.ready := advance
  private val stages = new TokenStages(advance, clear)
  private val begun = Wire(Valid(new TokenChunk(bits)))
  begun.valid := chunk.valid
  begun.bits := chunk.bits
  measure.input := stages.next(begun)
  exits.input := measure.output

  // The loop from chunk to chunk.
  private val entry = Reg(new TokenEntry)
  when(exits.output.valid && advance) { entry := exits.exits(entry.asUInt) }
  when(clear) { entry := 0.U.asTypeOf(entry) }
  starts.input := stages.next(exits.output)
  starts.entry := stages.next(exits.output, entry)
  waiting.io.enq.valid := starts.output.valid && advance
  waiting.io.enq.bits := starts.output.bits
  assert(!waiting.io.enq.valid || waiting.io.enq.ready, "a chunk has no place")

  private val ended = RegInit(false.B)
  splitter.chunk <> waiting.io.deq
  splitter.enable := roomy && !ended
  values.part := splitter.part
  literals := values.literals
  literalCount := values.literalCount
  sequence := values.sequence

  // The end of the block.
  private val position = Reg(UInt(positionBits.W))
  private val isWrong = Reg(Bool())
  private val behind = Reg(UInt(splitter.end.getWidth.W))
  when(splitter.passed && !splitter.part.bits.stops) { position := position + bits.U }
  when(splitter.part.valid && splitter.part.bits.stops) {
    ended := true.B
    isWrong := splitter.wrong
    behind := splitter.end
  }
  when(start.valid) { position := start.bits }
  when(clear) { ended := false.B }
  private val sum = RegNext(position + behind)
  end := sum
  wrong := isWrong
  done := values.flushed
}
