package rackwright.deflate.encode

import chisel3._
import chisel3.util._

import rackwright.compression.FormatPort
import rackwright.memory.Sram

/** Everything between the LZ77 encoder and the writer: collects tokens into blocks, builds their codes, and writes
  * them. A reset returns it to the initial state from any state.
  */
class DeflateBoxes(params: DeflateCompressorParams) extends Module {
  val compressor = IO(new FormatPort(params))
  import compressor.{consume, finished, input, inputCount, literals, output, sequence, start}

  private val collector = Module(new TokenCollector(params))
  private val preparer = Module(new BlockPreparer(params))
  private val blocks = Module(new BlockWriter(params))
  private val assembler = Module(new StreamAssembler)
  private val ring = Module(new InputRing(params.keptBytes))
  private val sums = Module(new InputSums)
  private val started = RegInit(false.B)
  private val length = RegEnable(start.bits, start.valid)
  when(start.valid) { started := true.B }

  collector.sequence <> sequence
  collector.literals := literals
  consume := collector.consume
  preparer.block <> collector.block
  preparer.counted := collector.counted
  compressor.busy := false.B

  private val store = Sram(params.slots * (1 << log2Ceil(params.tokensMost)), new Token(params))
  when(collector.token.valid) { store.write(collector.token.bits.place, collector.token.bits.token) }
  blocks.token := RegNext(store.read(blocks.read.bits, blocks.read.valid))
  blocks.literalWord := preparer.literalWord
  blocks.distanceWord := preparer.distanceWord
  blocks.string := preparer.string
  blocks.preparedHalf := preparer.half
  blocks.block <> preparer.prepared

  ring.data := input
  ring.count := inputCount
  ring.release := blocks.release
  ring.place := blocks.place
  blocks.literals := ring.read
  compressor.roomy := ring.roomy
  sums.data := input
  sums.count := inputCount
  sums.length.valid := started
  sums.length.bits := length

  assembler.start := start
  assembler.format := compressor.settings.elements(params.format.name)
  assembler.bits := blocks.bits
  assembler.align := blocks.align
  assembler.blocksDone := blocks.finished
  assembler.summed := sums.done
  assembler.adler := sums.adler
  assembler.crc := sums.crc
  blocks.begin := assembler.begin
  blocks.enable := assembler.enable
  output <> assembler.output
  finished := assembler.finished
}
