package rackwright.zstd

import chisel3._
import chisel3.util._

import rackwright.lz77.{EncoderParams, Sequence => FoundSequence}
import rackwright.memory.ByteChunk

/** Everything between the LZ77 encoder and the writer: blocks are collected, coded and put into a frame. A reset brings
  * it back to the start from any state.
  */
class BlockBoxes(params: ZstdCompressorParams) extends Module {

  /** An operation begins: bytes of input. */
  val start = IO(Flipped(Valid(UInt(32.W))))
  val hashing = IO(Input(Bool()))

  /** Of the frame, from its start on: the number of its dictionary, or 0; the offsets that it begins with. */
  val dictionaryId = IO(Input(UInt(32.W)))
  val offsets = IO(Input(Vec(3, UInt(EncoderParams.distanceBits.W))))
  val sequence = IO(Flipped(Decoupled(new FoundSequence(params.encoder))))
  val literals = IO(Input(UInt((8 * params.literalReadBytes).W)))
  val consume = IO(Output(UInt(log2Ceil(params.literalReadBytes + 1).W)))

  /** The input as it is taken: the first `inputCount` bytes. */
  val input = IO(Input(UInt((8 * params.streamBytes).W)))
  val inputCount = IO(Input(UInt(log2Ceil(params.streamBytes + 1).W)))
  val output = IO(Decoupled(new ByteChunk(FrameWriter.chunkBytes)))
  val finished = IO(Output(Bool()))

  /** Something is made ready for the next operation. */
  val busy = IO(Output(Bool()))

  private val collector = Module(new BlockCollector(params))
  private val coder = Module(new BlockEncoder(params))
  private val ring = Module(new OutputRing(params.outputWords))
  private val frame = Module(new FrameWriter)
  private val checksum = Module(new InputChecksum)
  private val started = RegInit(false.B)
  private val length = RegEnable(start.bits, start.valid)
  when(start.valid) { started := true.B }

  collector.start.valid := start.valid
  collector.start.bits := offsets
  collector.sequence <> sequence
  collector.hold := coder.hold
  collector.literals := literals
  consume := collector.consume
  coder.block <> collector.block
  coder.counted := collector.counted
  coder.coded.valid := collector.coded.valid
  coder.coded.bits := collector.coded.bits.sequence
  coder.ring <> ring.port
  busy := coder.busy

  private val literalStore =
    SyncReadMem(2 * params.blockBytes / BlockCollector.lanes, collector.literalWord.bits.data.cloneType)
  when(collector.literalWord.valid) {
    literalStore.write(collector.literalWord.bits.place, collector.literalWord.bits.data)
  }
  coder.literals.value := RegNext(literalStore.read(coder.literals.place.bits, coder.literals.place.valid))
  private val sequenceStore = SyncReadMem(2 * params.sequencesMost, new CodedSequence)
  when(collector.coded.valid) { sequenceStore.write(collector.coded.bits.place, collector.coded.bits.sequence) }
  coder.sequences.value := RegNext(sequenceStore.read(coder.sequences.place.bits, coder.sequences.place.valid))

  checksum.data := input(63, 0)
  checksum.active := hashing && started
  checksum.count := Mux(hashing && started, inputCount, 0.U)
  checksum.length := length
  frame.start := start
  frame.hashing := hashing
  frame.dictionaryId := dictionaryId
  frame.blocks <> ring.output
  frame.complete := coder.finished && ring.empty
  frame.hash := checksum.hash
  output <> frame.output
  finished := frame.finished
}
