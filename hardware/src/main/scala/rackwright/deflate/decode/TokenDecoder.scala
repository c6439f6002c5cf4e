package rackwright.deflate.decode

import chisel3._
import chisel3.util._

/** Decodes the codes of a block, `bits` bits per cycle: a code may begin at each of them.
  *
  * What a code at each bit would be, of either kind ([[TokenMeasure]]); where the next chunk is entered, for every way
  * into this one ([[TokenExits]]), so that going from chunk to chunk is one choice; where codes begin
  * ([[TokenStarts]]); parts with one copy at most ([[TokenSplitter]]), and what they stand for ([[TokenValues]]). The
  * stages up to the splitter move together, or stand.
  *
  * @param bits
  *   bits per cycle, 4 to 32.
  */
class TokenDecoder(bits: Int) extends Module {
  private val positionBits = InputBits.positionBits

  /** A block begins, at this bit of the input; until `clear` its chunks follow. */
  val start = IO(Flipped(Valid(UInt(positionBits.W))))
  val clear = IO(Input(Bool()))
  val codes = IO(Input(new TokenCodes))
  val chunk = IO(Flipped(Decoupled(new TokenChunk(bits))))

  /** Literals and sequences may be given out, and what five cycles make of them. */
  val roomy = IO(Input(Bool()))
  val literals = IO(Valid(Vec(bits, UInt(8.W))))
  val literalCount = IO(Output(UInt(log2Ceil(bits + 1).W)))
  val sequence = IO(Valid(new TokenSequence))

  /** Until `clear`: all of the block was given out; what follows it is wrong; the bit behind it. */
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

  // From chunk to chunk.
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

  // Where the block ends.
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
