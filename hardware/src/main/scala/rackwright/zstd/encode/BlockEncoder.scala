package rackwright.zstd.encode

import chisel3._
import chisel3.util._

import rackwright.entropy.bits.{BitPacker, BitString}
import rackwright.entropy.huffman.{CountedLiterals, LiteralHistogram}

/** Encodes collected blocks, one after the other, and emits their bytes. */
class BlockEncoder(params: ZstdCompressorParams) extends Module {
  import BlockEncoder.State

  /** Accepted when its literals have been counted, or at once if no counts are needed. What is counted after that
    * belongs to the next block.
    */
  val block = IO(Flipped(Decoupled(new CollectedBlock(params))))
  val counted = IO(Flipped(Valid(new CountedLiterals)))
  val coded = IO(Flipped(Valid(new CodedSequence)))
  val literals = IO(new StorePort(log2Ceil(params.blockBytes) - 1, UInt((8 * BlockCollector.lanes).W)))
  val sequences = IO(new StorePort(log2Ceil(params.sequencesMost) + 1, new CodedSequence))
  val ring = IO(new RingPort(params.outputWords))

  /** The last block has been emitted. */
  val finished = IO(Output(Bool()))

  /** The pipeline is active although no block is in progress. */
  val busy = IO(Output(Bool()))

  private val state = RegInit(State.idle)
  private val current = Reg(new CollectedBlock(params))
  private val histogram = Module(new LiteralHistogram(params.countBits))
  private val literalCoder = Module(new LiteralEncoder(params))
  private val tables = Module(new SequenceEncodeTables(params))
  private val sequenceCoder = Module(new SequenceEncoder(params))
  private val packer = Module(new BitPacker(SequenceEncoder.mostBits))
  private val enable = RegNext(ring.roomy, false.B)
  private val hasSequences = current.sequences =/= 0.U
  private def enters(target: State.Type): Bool = state === target && RegNext(state =/= target, false.B)

  // Literals are counted, except those of a last block that is too short to profit from a code.
  private val arrives = state === State.idle && block.valid
  private val plain = arrives && block.bits.last && block.bits.literals <= LiteralEncoder.descriptionBytes.U
  private val begins = arrives && !plain
  histogram.counted := counted
  histogram.gather := begins
  private val gathered = state === State.gather && !begins && !histogram.busy && !enters(State.gather)
  private val taken = gathered || plain
  block.ready := taken
  literalCoder.plain := plain
  literalCoder.collect := begins
  literalCoder.count := histogram.count
  literalCoder.collected := gathered

  // Writes the literals.
  literalCoder.range.count := current.literals
  literalCoder.range.half := current.half
  literalCoder.uniform := current.uniform
  literalCoder.start := enters(State.literals)
  literalCoder.enable := enable
  literals <> literalCoder.literals
  literalCoder.bytes := packer.bytes
  literalCoder.busy := packer.busy
  ring.skip := state === State.begin || literalCoder.skip || literalCoder.skipWeights
  private val head = RegEnable(ring.next, state === State.begin)
  private val jumps = RegEnable(ring.next, literalCoder.skip)
  private val weights = RegEnable(ring.next, literalCoder.skipWeights)

  // Writes the sequences.
  sequenceCoder.start.valid := enters(State.sequences)
  sequenceCoder.start.bits.count := current.sequences
  sequenceCoder.start.bits.half := current.half
  sequenceCoder.enable := enable
  sequences.place := sequenceCoder.read
  sequenceCoder.sequence := sequences.value
  sequenceCoder.tables <> tables.tables
  sequenceCoder.logs := tables.logs
  private val sequenceHead = Wire(Valid(new BitString(SequenceEncoder.mostBits)))
  sequenceHead.valid := state === State.sequenceHead && tables.ready
  sequenceHead.bits := BlockHeads.sequences(current.sequences, tables.modes)
  tables.coded := coded
  tables.prepare.valid := taken
  tables.prepare.bits := block.bits.sequences
  tables.describe := enters(State.describe)
  tables.enable := enable

  private val sources = Seq(literalCoder.bits, sequenceHead, tables.bits, sequenceCoder.bits)
  packer.bits.valid := sources.map(_.valid).reduce(_ || _)
  packer.bits.bits.value := Mux1H(sources.map(_.valid), sources.map(_.bits.value.pad(SequenceEncoder.mostBits)))
  packer.bits.bits.count := Mux1H(sources.map(_.valid), sources.map(_.bits.count.pad(6)))
  packer.align := enters(State.align) || literalCoder.align || tables.align
  packer.clear := state === State.begin
  ring.word := packer.word

  // Writes the headers, after everything behind them has been emitted.
  private val form = literalCoder.form
  private val byHuffman = form.kind === BlockHeads.compressed.U
  private val isCompressed = RegNext(hasSequences || byHuffman)
  private val plainHead = RegNext(BlockHeads.plain(form.kind, current.literals))
  private val codedHead = RegNext(BlockHeads.coded(current.literals, form.four, form.bytes))
  private val literalsBytes = RegNext(
    Mux(
      isCompressed,
      Mux(byHuffman, BlockHeads.codedBytes(current.literals), BlockHeads.plainBytes(current.literals)),
      0.U
    )
  )
  private val literalsHead = RegNext(Mux(isCompressed, Mux(byHuffman, codedHead, plainHead), 0.U))
  private val size = RegNext(packer.bytes +& literalsBytes +& form.patched)
  private val blockHead = RegNext(
    BlockHeads.block(
      current.last,
      Mux(isCompressed, BlockHeads.compressed.U, form.kind),
      Mux(isCompressed, size, Mux(form.kind === BlockHeads.same.U, current.literals, packer.bytes))
    )
  )
  private val headWord = RegNext(BlockHeads.word(blockHead, literalsHead, literalsBytes))
  ring.patch.valid := state === State.patch || (state === State.patchJumps && byHuffman && form.four) ||
    (state === State.patchWeights && form.weighed)
  ring.patch.bits.place := MuxLookup(state, head)(Seq(State.patchJumps -> jumps, State.patchWeights -> weights))
  ring.patch.bits.word := headWord
  when(state === State.patchJumps) {
    ring.patch.bits.word.data := form.sizes.asUInt
    ring.patch.bits.word.count := 6.U
  }
  when(state === State.patchWeights) {
    ring.patch.bits.word.data := form.weightBytes
    ring.patch.bits.word.count := 1.U
  }
  ring.commit := state === State.commit
  private val settled = Reg(UInt(3.W))
  private val ended = RegInit(false.B)
  finished := ended
  busy := !tables.ready

  switch(state) {
    is(State.idle) {
      current := block.bits
      when(arrives) { state := Mux(plain, State.make, State.gather) }
    }
    is(State.gather) { when(gathered) { state := State.make } }
    is(State.make) { when(literalCoder.ready) { state := State.begin } }
    is(State.begin) { state := State.literals }
    is(State.literals) {
      when(literalCoder.done) {
        state := Mux(hasSequences || byHuffman, State.sequenceHead, State.align)
      }
    }
    is(State.sequenceHead) { when(tables.ready) { state := Mux(hasSequences, State.describe, State.align) } }
    is(State.describe) { when(tables.described) { state := State.sequences } }
    is(State.sequences) { when(sequenceCoder.done) { state := State.align } }
    is(State.align) {
      settled := 0.U
      when(!enters(State.align) && !packer.busy) { state := State.settle }
    }
    is(State.settle) {
      settled := settled + 1.U
      when(settled === 5.U) { state := State.patch }
    }
    is(State.patch) { state := State.patchJumps }
    is(State.patchJumps) { state := State.patchWeights }
    is(State.patchWeights) { state := State.commit }
    is(State.commit) {
      ended := current.last
      state := State.idle
    }
  }
}

/** Read port of a store: an index, and the entry two cycles later. */
class StorePort[T <: Data](placeBits: Int, gen: T) extends Bundle {
  val place = Valid(UInt(placeBits.W))
  val value = Input(gen)
}

/** States of a [[BlockEncoder]]. */
object BlockEncoder {

  /** The literals are counted, their code is built, both sections are written; `settle` computes the headers, which are
    * written last.
    */
  object State extends ChiselEnum {
    val idle, gather, make, begin, literals, sequenceHead, describe, sequences, align, settle, patch, patchJumps,
        patchWeights, commit = Value
  }
}
