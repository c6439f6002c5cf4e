package rackwright.zstd.decode

import chisel3._
import chisel3.util._

import rackwright.checksum.ContentChecksum
import rackwright.compression.{DecompressorPort, LiteralSource}
import rackwright.lz77.decode.LiteralRun
import rackwright.port.Status
import rackwright.stream.StreamRange

/** Everything between the input stream and the LZ77 decoder: frames, blocks, dictionaries and checksums.
  *
  * @param params
  *   what to build.
  */
class FrameBoxes(params: ZstdDecompressorParams) extends Module {
  val decompressor = IO(new DecompressorPort(params))
  import decompressor.{clear, open}

  private val frames = Module(new FrameReader(params.streaming))
  private val dictionary = Module(new DictionaryReader)
  private val literals = Module(new LiteralSource(params.decoder))
  private val blocks = Module(new CompressedBlocks(params))
  private val executor = Module(new SequenceExecutor(params.decoder))
  private val checksum = Module(new ContentChecksum(params.port.bytes))
  private def setting(name: String): UInt = decompressor.settings.elements(name)

  // Input.
  private val dictionaryRange = Wire(new StreamRange)
  dictionaryRange.address := setting(params.dictionaryAddress.name)
  dictionaryRange.length := setting(params.dictionaryLength.name)
  decompressor.enter.valid := dictionary.enter.valid
  decompressor.enter.bits := Mux(dictionary.active, open.bits, dictionaryRange)
  private val framesSeek = frames.seek.valid || dictionary.enter.valid
  private val framesPlace = Mux(dictionary.enter.valid, dictionary.enter.bits, frames.seek.bits)
  decompressor.seek.valid := framesSeek || blocks.seek.valid
  decompressor.seek.bits := Mux(framesSeek, framesPlace, blocks.seek.bits)
  decompressor.memory.zip(blocks.memory).foreach { case (port, memory) => port <> memory }
  decompressor.memoryIdle := blocks.memoryIdle
  private val stream = decompressor.stream
  private val moved = decompressor.seek.valid || decompressor.enter.valid || open.valid
  private val head = InputHead(FrameReader.headBytes, stream, moved)
  stream.consume := frames.consume | blocks.consume | dictionary.consume | literals.stream.consume
  literals.stream.data := stream.data
  literals.stream.available := stream.available
  literals.stream.last := stream.last
  literals.stream.fault := stream.fault
  literals.clear := clear
  frames.open.valid := open.valid
  frames.open.bits := open.bits.length
  frames.clear := clear
  frames.end.foreach(_ := decompressor.end.get)
  frames.position := decompressor.position
  frames.head := head

  // Dictionary.
  dictionary.begin.valid := open.valid
  dictionary.begin.bits := dictionaryRange
  dictionary.isKept := setting(params.dictionaryKept.name)(0)
  dictionary.clear := clear
  dictionary.frame <> frames.prepare
  frames.dictionaryGiven := dictionary.isGiven
  frames.dictionary := dictionary.dictionary
  dictionary.head := head
  dictionary.position := decompressor.position
  dictionary.blockDone := blocks.done
  dictionary.offsets := blocks.offsets
  dictionary.tablesChange := blocks.tablesChange
  decompressor.before.foreach { before =>
    before.address := dictionary.dictionary.content
    before.bytes := dictionary.dictionary.contentBytes
  }

  // Blocks.
  blocks.clear := clear
  // Blocks start many cycles after either of these changes.
  blocks.source := RegNext(Mux(dictionary.active, dictionary.source, open.bits.address))
  blocks.head := head
  blocks.position := decompressor.position
  blocks.block.valid := frames.block.valid || dictionary.block.valid
  blocks.block.bits := Mux(dictionary.active, dictionary.block.bits, frames.block.bits)
  frames.block.ready := blocks.block.ready
  dictionary.block.ready := blocks.block.ready
  frames.plainDone := executor.idle && literals.order.ready
  frames.blockDone := blocks.done
  frames.made := executor.made
  literals.order.valid := frames.literals.valid || blocks.literals.valid
  literals.order.bits := Mux(frames.literals.valid, frames.literals.bits, blocks.literals.bits)
  frames.literals.ready := literals.order.ready
  blocks.literals.ready := literals.order.ready
  blocks.literalsIdle := literals.order.ready
  executor.block.valid := frames.shape.valid || blocks.shape.valid
  executor.block.bits := Mux(frames.shape.valid, frames.shape.bits, blocks.shape.bits)
  frames.shape.ready := executor.block.ready
  blocks.shape.ready := executor.block.ready
  executor.sequence <> blocks.sequence
  blocks.executorIdle := executor.idle
  executor.frame.valid := decompressor.begun
  executor.frame.bits.bytes := decompressor.room
  executor.frame.bits.dictionaryBytes := dictionary.dictionary.contentBytes
  executor.frame.bits.offsets := dictionary.dictionary.offsets
  executor.clear := clear
  private val run = Wire(Valid(new LiteralRun(params.decoder)))
  run.valid := literals.run.valid || blocks.run.valid
  run.bits := Mux(blocks.run.valid, blocks.run.bits, literals.run.bits)
  executor.arrived := Mux(run.valid, run.bits.count, 0.U)

  // Frames.
  decompressor.begin := frames.frame.valid
  frames.frame.ready := decompressor.begun
  decompressor.close := frames.close
  frames.closed := decompressor.closed
  frames.hash := checksum.value
  decompressor.finished := frames.finished
  decompressor.element := frames.element
  decompressor.failed := executor.failed || frames.failed || blocks.failed || dictionary.failed || literals.unreadable
  decompressor.failure := PriorityMux(
    Seq(
      executor.failed -> executor.status,
      frames.failed -> frames.status,
      blocks.failed -> blocks.status,
      dictionary.failed -> dictionary.status,
      true.B -> Status.accessFault
    )
  )

  // Output, registered, since the segments of the executor arrive late in a cycle; the decoder is not idle before.
  decompressor.segments := withReset(reset.asBool || clear)(Pipe(executor.output))
  decompressor.literals := run
  literals.roomy := decompressor.literalsRoomy
  blocks.roomy := decompressor.literalsRoomy
  executor.roomy := decompressor.roomy
  decompressor.starved := executor.starved

  /** The frame in progress has a checksum. */
  private val hashing = RegInit(false.B)
  when(decompressor.begun) { hashing := frames.frame.bits.checksum }
  when(open.valid) { hashing := false.B }
  checksum.start.valid := decompressor.begun
  checksum.start.bits := decompressor.firstByte
  checksum.finish := frames.close && RegNext(frames.close && hashing && decompressor.drained, false.B)
  checksum.length := decompressor.made
  decompressor.hashed := !hashing || checksum.done
  checksum.line.valid := decompressor.line.valid && hashing
  checksum.line.bits := decompressor.line.bits
  decompressor.lineReady := !hashing || checksum.line.ready
}
