package rackwright.deflate

import chisel3._
import chisel3.util._

import rackwright.lz77.Sequence
import rackwright.memory.ByteChunk

/** Everything between the LZ77 encoder and the writer: tokens are gathered into blocks, these get codes and are
  * written. A reset brings it back to the start from any state.
  */
class DeflateBoxes(params: DeflateCompressorParams) extends Module {

  /** An operation begins: bytes of input. */
  val start = IO(Flipped(Valid(UInt(32.W))))
  val format = IO(Input(UInt(Wrapper.bits.W)))
  val sequence = IO(Flipped(Decoupled(new Sequence(params.encoder))))
  val literals = IO(Input(UInt((8 * params.literalReadBytes).W)))
  val consume = IO(Output(UInt(log2Ceil(params.literalReadBytes + 1).W)))

  /** The input as it is taken: the first `inputCount` bytes, up to eight. */
  val input = IO(Input(UInt(64.W)))
  val inputCount = IO(Input(UInt(4.W)))

  /** Input may be taken. */
  val roomy = IO(Output(Bool()))
  val output = IO(Decoupled(new ByteChunk(DeflateCompressorParams.chunkBytes)))
  val finished = IO(Output(Bool()))

  /** Something is made ready for the next operation. */
  val busy = IO(Output(Bool()))

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
  collector.hold := preparer.hold
  collector.literals := literals
  consume := collector.consume
  preparer.block <> collector.block
  preparer.counted := collector.counted
  busy := preparer.busy

  private val store = SyncReadMem(params.slots * (1 << log2Ceil(params.tokensMost)), new Token(params))
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
  roomy := ring.roomy
  sums.data := input
  sums.count := inputCount
  sums.length.valid := started
  sums.length.bits := length

  assembler.start := start
  assembler.format := format
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
