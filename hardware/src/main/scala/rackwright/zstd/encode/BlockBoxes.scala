package rackwright.zstd.encode

import chisel3._
import chisel3.util._

import rackwright.compression.FormatPort
import rackwright.memory.Sram
import rackwright.stream.SkidBuffer

/** Everything between the LZ77 encoder and the writer: collects, encodes and frames blocks. A reset returns it to the
  * initial state from any state.
  */
class BlockBoxes(params: ZstdCompressorParams) extends Module {
  val compressor = IO(new FormatPort(params))
  import compressor.{consume, finished, input, inputCount, literals, output, sequence, start}

  private val collector = Module(new BlockCollector(params))
  private val coder = Module(new BlockEncoder(params))
  private val ring = Module(new OutputRing(params.outputWords))
  private val frame = Module(new FrameWriter)
  private val checksum = Module(new InputChecksum)
  private val hashing = compressor.settings.elements(params.checksum.name)(0)
  private val dictionaryId =
    params.dictionary.fold(0.U)(_ => compressor.settings.elements(params.dictionaryId.name)(31, 0))
  private val offsets = params.dictionary.fold(params.dictionaryOffsets.default.U(48.W))(_ =>
    compressor.settings.elements(params.dictionaryOffsets.name)(47, 0)
  )
  private val started = RegInit(false.B)
  private val length = RegEnable(start.bits, start.valid)
  when(start.valid) { started := true.B }

  collector.start.valid := start.valid
  collector.start.bits := offsets.asTypeOf(collector.start.bits)
  collector.sequence <> sequence
  collector.literals := literals
  consume := collector.consume
  coder.block <> collector.block
  coder.counted := collector.counted
  coder.coded.valid := collector.coded.valid
  coder.coded.bits := collector.coded.bits.sequence
  coder.ring <> ring.port
  compressor.busy := coder.busy
  compressor.roomy := true.B

  private val literalStore =
    Sram(2 * params.blockBytes / BlockCollector.lanes, collector.literalWord.bits.data.cloneType)
  when(collector.literalWord.valid) {
    literalStore.write(collector.literalWord.bits.place, collector.literalWord.bits.data)
  }
  coder.literals.value := RegNext(literalStore.read(coder.literals.place.bits, coder.literals.place.valid))
  private val sequenceStore = Sram(2 * params.sequencesMost, new CodedSequence)
  when(collector.coded.valid) { sequenceStore.write(collector.coded.bits.place, collector.coded.bits.sequence) }
  coder.sequences.value := RegNext(sequenceStore.read(coder.sequences.place.bits, coder.sequences.place.valid))

  checksum.data := input
  checksum.active := hashing && started
  checksum.count := Mux(hashing && started, inputCount, 0.U)
  checksum.length := length
  frame.start := start
  frame.hashing := hashing
  frame.dictionaryId := dictionaryId
  frame.blocks <> ring.output
  frame.complete := coder.finished && ring.empty
  frame.hash := checksum.hash
  // The size of an output word is known late in the cycle, and the writer counts it; hence the buffer.
  private val leaving = SkidBuffer(frame.output)
  output <> leaving
  finished := frame.finished && !leaving.valid
}
