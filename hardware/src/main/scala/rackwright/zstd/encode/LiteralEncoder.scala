package rackwright.zstd.encode

import chisel3._
import chisel3.util._

import rackwright.entropy.bits.BitString
import rackwright.entropy.huffman.{HuffmanCodeMaker, SymbolCount}

/** The form of a literals section. */
class LiteralForm(params: ZstdCompressorParams) extends Bundle {

  /** A type of [[BlockHeads]]. */
  val kind = UInt(2.W)

  /** Four Huffman streams instead of one. */
  val four = Bool()

  /** Size in bytes of each of the four streams but the last. */
  val sizes = Vec(3, UInt(16.W))

  /** The weights are FSE-compressed, to this many bytes. */
  val weighed = Bool()
  val weightBytes = UInt(7.W)

  /** Size in bytes of the content, including the bytes that are patched. */
  val bytes = UInt(18.W)

  /** Number of these bytes that are patched later. */
  val patched = UInt(3.W)
}

/** Writes the literals section of a block (RFC 8878, section 3.1.1.3.1) without its header: raw, as a single byte if
  * all literals are equal (RLE), or with a Huffman code, whichever is shortest.
  */
class LiteralEncoder(params: ZstdCompressorParams) extends Module {
  import LiteralEncoder._

  /** The counts of the literals of a block arrive; the second signal marks the last of them. */
  val collect = IO(Input(Bool()))
  val count = IO(Flipped(Valid(new SymbolCount(params.countBits))))
  val collected = IO(Input(Bool()))

  /** Instead of `collect`: starts a block whose literals are not counted and get no code. */
  val plain = IO(Input(Bool()))

  /** All literals of the block are equal. */
  val uniform = IO(Input(Bool()))

  /** The code is complete: writing may start, and the form of the literals is known. */
  val ready = IO(Output(Bool()))
  val range = IO(Input(new LiteralRange(params)))
  val start = IO(Input(Bool()))
  val form = IO(Output(new LiteralForm(params)))

  val enable = IO(Input(Bool()))
  val literals = IO(new StorePort(log2Ceil(params.blockBytes) - 1, UInt((8 * BlockCollector.lanes).W)))
  val bits = IO(Valid(new BitString(SequenceEncoder.mostBits)))
  val align = IO(Output(Bool()))

  /** The number of bytes emitted since the start of the block, and whether some are still in the pipeline. */
  val bytes = IO(Input(UInt(20.W)))
  val busy = IO(Input(Bool()))

  /** Reserves the next word for the sizes of the streams, or for the size of the weights. */
  val skip = IO(Output(Bool()))
  val skipWeights = IO(Output(Bool()))
  val done = IO(Output(Bool()))

  private val maker = Module(new HuffmanCodeMaker(params.countBits))
  private val copier = Module(new LiteralCopier(params))
  private val weights = Module(new HuffmanWeights)
  private val description = Module(new HuffmanDescription)
  private val weightCoder = Module(new HuffmanWeightCoder)
  private val coder = Module(new HuffmanEncoder(params))
  private val state = RegInit(State.idle)
  private def enters(target: State.Type): Bool = state === target && RegNext(state =/= target, false.B)

  maker.start := collect
  maker.count := count
  maker.finish := collected
  weights.clear := collect
  weights.assignment := maker.word
  coder.assignment := maker.word
  ready := state === State.ready

  // A single literal, or a code if it saves enough for its description.
  private val total = range.count
  private val summary = maker.summary
  private val weighed = RegNext(summary.last > HuffmanDescription.mostSymbol.U)
  private val codedBytes = RegNext((summary.bits >> 3) +& descriptionBytes.U)
  private val shorter =
    RegNext(codedBytes < total && (!weighed || weightCoder.usable) && summary.used > 1.U)
  private val same = RegNext(uniform && total > 3.U)
  private val isPlain = Reg(Bool())
  private val kind = Reg(UInt(2.W))
  private val four = Reg(Bool())
  private val weightBytes = Reg(UInt(7.W))
  private val sizes = Reg(Vec(3, UInt(16.W)))
  private val size = Reg(UInt(18.W))
  form.kind := kind
  form.four := four
  form.sizes := sizes
  form.bytes := size
  form.weighed := weighed && kind === BlockHeads.compressed.U
  form.weightBytes := weightBytes
  form.patched := Mux(kind === BlockHeads.compressed.U, Mux(four, 6.U, 0.U) + weighed, 0.U)

  private val waited = Reg(UInt(2.W))
  private val stream = Reg(UInt(2.W))
  private val from = Reg(UInt(params.countBits.W))
  private val before = Reg(UInt(20.W))
  private val quarter = RegNext((total +& 3.U) >> 2)
  private val lastStream = !four || stream === 3.U

  copier.start.valid := enters(State.copy)
  copier.start.bits.half := range.half
  copier.start.bits.count := Mux(kind === BlockHeads.same.U, 1.U, total)
  copier.enable := enable
  copier.word := literals.value
  description.start := enters(State.describe)
  description.last := summary.last
  description.enable := enable
  description.weight := weights.weight
  weightCoder.prepare := enters(State.weigh)
  weightCoder.start := enters(State.describeWeights)
  weightCoder.last := summary.last
  weightCoder.enable := enable
  weightCoder.weight := weights.weight
  weights.longest := summary.longest
  weights.symbol.valid := description.symbol.valid || weightCoder.symbol.valid
  weights.symbol.bits := Mux(weightCoder.symbol.valid, weightCoder.symbol.bits, description.symbol.bits)
  coder.start.valid := enters(State.stream)
  coder.start.bits.from := from
  coder.start.bits.until := Mux(lastStream, total, from + quarter)
  coder.start.bits.half := range.half
  coder.enable := enable
  coder.word := literals.value
  literals.place.valid := copier.read.valid || coder.read.valid
  literals.place.bits := Mux(copier.read.valid, copier.read.bits, coder.read.bits)
  private val sources = Seq(copier.bits, description.bits, coder.bits, weightCoder.bits)
  bits.valid := sources.map(_.valid).reduce(_ || _)
  bits.bits.value := Mux1H(sources.map(_.valid), sources.map(_.bits.value.pad(SequenceEncoder.mostBits)))
  bits.bits.count := Mux1H(sources.map(_.valid), sources.map(_.bits.count.pad(6)))
  align := weightCoder.align || (enters(State.closeDescription) && !weighed) || enters(State.closeStream)
  skip := state === State.skip
  skipWeights := state === State.skipWeights
  done := state === State.end
  private val closed = !busy && !align && RegNext(!busy && !align, false.B)

  switch(state) {
    is(State.idle) {
      waited := 0.U
      isPlain := plain
      when(collect) { state := State.make }.elsewhen(plain) { state := State.decide }
    }
    is(State.make) {
      waited := 0.U
      when(maker.done) { state := State.made }
    }
    is(State.made) {
      waited := waited + 1.U
      when(waited === 1.U) {
        waited := 0.U
        state := Mux(weighed && summary.used > 1.U, State.weigh, State.decide)
      }
    }
    is(State.weigh) { when(!enters(State.weigh) && weightCoder.ready) { state := State.decide } }
    is(State.decide) {
      waited := waited + 1.U
      kind := Mux(same, BlockHeads.same.U, Mux(shorter && !isPlain, BlockHeads.compressed.U, BlockHeads.raw.U))
      four := total >= fourFrom.U
      when(waited === 3.U) { state := State.ready }
    }
    is(State.ready) {
      from := 0.U
      stream := 0.U
      when(start) {
        state := Mux(kind =/= BlockHeads.compressed.U, State.copy, Mux(weighed, State.skipWeights, State.describe))
      }
    }
    is(State.copy) { when(copier.done) { state := State.end } }
    is(State.describe) { when(description.done) { state := State.closeDescription } }
    is(State.skipWeights) { state := State.describeWeights }
    is(State.describeWeights) { when(weightCoder.done) { state := State.closeDescription } }
    is(State.closeDescription) {
      weightBytes := bytes
      when(closed) { state := Mux(four, State.skip, State.stream) }
    }
    is(State.skip) { state := State.stream }
    is(State.stream) {
      when(enters(State.stream)) { before := bytes }
      when(coder.done) { state := State.closeStream }
    }
    is(State.closeStream) {
      size := bytes +& form.patched
      when(closed) {
        when(!lastStream) { sizes(stream) := bytes - before }
        from := from + quarter
        stream := stream + 1.U
        state := Mux(lastStream, State.end, State.stream)
      }
    }
    is(State.end) { state := State.idle }
  }
}

object LiteralEncoder {

  /** Estimated size of a description, which a code has to save. */
  val descriptionBytes: Int = 80

  /** With at least this many literals there are four streams: the short header of a single stream does not reach beyond
    * ([[BlockHeads.codedBytes]]).
    */
  val fourFrom: Int = 896

  /** `close…` wait until the emitted bytes have been counted. */
  object State extends ChiselEnum {
    val idle, make, made, weigh, decide, ready, copy, describe, skipWeights, describeWeights, closeDescription, skip,
        stream, closeStream, end = Value
  }
}
