package rackwright.zstd.decode

import chisel3._
import chisel3.util._

import rackwright.compression.LiteralOrder
import rackwright.entropy.bits.{BackwardBits, BackwardLoader}
import rackwright.entropy.fse.FseWeights
import rackwright.entropy.huffman.{HuffmanDecoder, HuffmanTableBuilder}
import rackwright.lz77.decode.LiteralRun
import rackwright.port.{MemoryPort, Status}
import rackwright.zstd.Sequence

/** Decodes compressed blocks to literals and sequences. This module only wires: [[BlockReader]] parses a block, the
  * table builders construct the Huffman code and the FSE tables, and two stream readers then decode literals and
  * sequences backwards.
  */
class CompressedBlocks(params: ZstdDecompressorParams) extends Module {
  private val port = params.port

  val clear = IO(Input(Bool()))

  /** Same contract as the port of [[BlockReader]]. */
  val block = IO(Flipped(Decoupled(new CompressedBlock)))
  val source = IO(Input(UInt(64.W)))
  val head = IO(Input(new InputHead(FrameReader.headBytes)))
  val position = IO(Input(UInt(64.W)))
  val consume = IO(Output(UInt(4.W)))
  val seek = IO(Valid(UInt(64.W)))
  val literals = IO(Decoupled(new LiteralOrder))
  val literalsIdle = IO(Input(Bool()))
  val shape = IO(Decoupled(new BlockShape))
  val executorIdle = IO(Input(Bool()))
  val done = IO(Output(Bool()))
  val offsets = IO(Output(Vec(3, UInt(32.W))))

  /** An FSE table or the Huffman code is being rebuilt. */
  val tablesChange = IO(Output(Bool()))

  /** Error status; held until `clear`. */
  val failed = IO(Output(Bool()))
  val status = IO(Output(UInt(Status.width.W)))

  /** Decoded literals of Huffman streams; back-pressured by free space. */
  val run = IO(Valid(new LiteralRun(params.decoder)))
  val roomy = IO(Input(Bool()))
  val sequence = IO(Decoupled(new Sequence))

  /** Memory ports of the two stream readers. */
  val memory = IO(Vec(2, new MemoryPort(port)))
  val memoryIdle = IO(Output(Bool()))

  private val outstanding = port.outstanding.min(CompressedBlocks.outstanding)
  // Every block starts from the reset state, whatever was in progress when an operation was abandoned.
  private def box[T <: Module](module: => T): T = withReset(reset.asBool || clear)(Module(module))
  private val reader = box(new BlockReader)
  private val tables = box(new SequenceTables)
  private val code = box(new HuffmanTableBuilder)
  private val streams = box(new HuffmanStreams)
  private val huffmanLoader = Module(new BackwardLoader(port, outstanding))
  private val huffman = box(new HuffmanDecoder(port, params.speculation))
  private val loader = Module(new BackwardLoader(port, outstanding))
  private val bits = box(new BackwardBits(port, SequenceDecoder.window, None))
  private val weights = box(new FseWeights)
  private val sequences = box(new SequenceDecoder)

  reader.block <> block
  reader.clear := clear
  reader.source := source
  reader.head := head
  reader.position := position
  consume := reader.consume
  seek := reader.seek
  literals <> reader.literals
  shape <> reader.shape
  reader.executorIdle := executorIdle
  reader.literalsIdle := literalsIdle && streams.idle && huffman.idle
  done := reader.done
  offsets := reader.offsets
  tablesChange := reader.codeStart || (tables.order.fire && tables.order.bits.mode =/= SequenceTables.repeated.U)

  // FSE tables and the Huffman code.
  tables.begin.valid := reader.begin
  tables.begin.bits := block.bits.tabled
  tables.clear := clear
  tables.order <> reader.table
  tables.window := head.number(4)
  tables.there := reader.tableThere
  reader.tableConsume := tables.consume
  reader.tableDone := tables.done
  reader.tableWrong := tables.wrong
  code.start := reader.codeStart
  code.weight.valid := reader.weight.valid || weights.weight.valid
  code.weight.bits := Mux(reader.weight.valid, reader.weight.bits, weights.weight.bits)
  code.finish := reader.codeFinish
  reader.codeDone := code.done
  reader.codeWrong := code.wrong
  weights.write := tables.write(SequenceTables.weights)
  weights.start.valid := reader.weightsStart
  weights.start.bits := tables.logs(SequenceTables.weights)
  weights.clear := clear
  reader.weightsDone := weights.done
  reader.weightsWrong := weights.wrong

  // Literals.
  streams.clear := clear
  streams.order <> reader.huffman
  huffmanLoader.range <> streams.range
  huffmanLoader.stop := clear
  memory(0) <> huffmanLoader.memory
  huffman.stream <> streams.stream
  huffman.beat <> huffmanLoader.beat
  huffman.code := code.code
  huffman.place := code.place
  huffman.clear := clear
  huffman.roomy := roomy
  run.valid := huffman.output.valid
  run.bits.window := huffman.output.bits.bytes.asUInt
  run.bits.at := 0.U
  run.bits.count := huffman.output.bits.count

  // Sequences, and before them the FSE-compressed weights.
  loader.range <> reader.stream
  loader.stop := clear
  memory(1) <> loader.memory
  bits.begin.valid := reader.stream.fire
  bits.begin.bits := reader.stream.bits.length
  bits.beat <> loader.beat
  bits.clear := clear
  for (user <- Seq(weights.source, sequences.source)) {
    user.open := bits.open
    user.window := bits.window(SequenceDecoder.window - 1, SequenceDecoder.window - user.shown)
    user.count := bits.count
    user.left := bits.left
  }
  bits.take.valid := weights.source.take || sequences.source.take
  bits.take.bits := Mux(weights.source.take, weights.source.bits, sequences.source.bits)
  for (kind <- 0 until SequenceTables.weights) {
    sequences.write(kind) := tables.write(kind)
    sequences.logs(kind) := tables.logs(kind)
    sequences.predefined(kind) := tables.predefined(kind)
  }
  sequences.start := reader.sequences
  sequences.clear := clear
  sequence <> sequences.output
  reader.sequencesIdle := sequences.idle

  private val fault = huffman.fault || bits.fault
  private val wrong = huffman.wrong || sequences.wrong || bits.unmarked
  failed := reader.failed || fault || wrong
  status := Mux(fault, Status.accessFault, Mux(wrong, Status.malformed, reader.status))
  memoryIdle := huffmanLoader.idle && loader.idle
}

/** Constants of the structure. */
object CompressedBlocks {

  /** Outstanding beats of each stream: a stream consumes up to 32 bits a cycle, which is less than one beat in eight
    * cycles.
    */
  val outstanding: Int = 16
}
