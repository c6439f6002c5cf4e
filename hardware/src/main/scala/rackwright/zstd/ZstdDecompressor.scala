package rackwright.zstd

import chisel3._
import chisel3.util._

import rackwright.compression.{DecompressorUnit, InputCursor}
import rackwright.contract.Status
import rackwright.lz77.{Decoder, LiteralRun}
import rackwright.memory.{LineWriter, MemoryArbiter}

/** The unit `zstd-decompress`: from Zstandard frames in memory to a buffer in memory. README.md is the contract.
  *
  * @param params
  *   what to build.
  */
class ZstdDecompressor(params: ZstdDecompressorParams = ZstdDecompressorParams())
    extends DecompressorUnit(params, readers = 3) {
  private val control = Module(new ZstdDecompressorControl(params))
  private val cursor = Module(new InputCursor(params.port, params.outstanding))
  private val frames = Module(new FrameReader)
  private val dictionary = Module(new DictionaryReader)
  private val literals = Module(new LiteralSource(params.decoder))
  private val blocks = Module(new CompressedBlocks(params))
  private val executor = Module(new SequenceExecutor(params.decoder))
  private val decoder = Module(new Decoder(params.decoder))
  private val writer = Module(new LineWriter(params.port, params.outstanding))
  private val checksum = Module(new ContentChecksum(params.port.bytes))
  private val reads = Module(new MemoryArbiter(params.port, 3))
  connect(control.decode, decoder, writer, executor.starved)

  control.operation <> router.operation
  router.result <> control.result

  // In.
  cursor.open.valid := control.open.valid || dictionary.enter.valid
  cursor.open.bits := Mux(dictionary.enter.valid && !dictionary.active, control.dictionary, control.open.bits)
  private val framesSeek = frames.seek.valid || dictionary.enter.valid
  cursor.seek.valid := framesSeek || blocks.seek.valid
  private val framesPlace = Mux(dictionary.enter.valid, dictionary.enter.bits, frames.seek.bits)
  cursor.seek.bits := Mux(framesSeek, framesPlace, blocks.seek.bits)
  cursor.stop := control.stop
  reads.ports(0) <> cursor.memory
  for ((port, memory) <- reads.ports.tail.zip(blocks.memory)) port <> memory
  read <> reads.memory
  control.inputReady := cursor.ready
  frames.open.valid := control.open.valid
  frames.open.bits := control.open.bits.length
  frames.clear := control.stop
  frames.position := cursor.position
  private val moved = cursor.seek.valid || cursor.open.valid
  private val head = InputHead(FrameReader.headBytes, cursor.stream, moved)
  frames.head := head
  cursor.stream.consume := frames.consume | blocks.consume | dictionary.consume | literals.stream.consume
  literals.stream.data := cursor.stream.data
  literals.stream.available := cursor.stream.available
  literals.stream.last := cursor.stream.last
  literals.stream.fault := cursor.stream.fault
  literals.clear := control.stop

  // The dictionary.
  dictionary.begin.valid := control.open.valid
  dictionary.begin.bits := control.dictionary
  dictionary.isKept := control.dictionaryKept
  dictionary.clear := control.stop
  dictionary.frame <> frames.prepare
  frames.dictionaryGiven := dictionary.isGiven
  frames.dictionary := dictionary.dictionary
  dictionary.head := head
  dictionary.position := cursor.position
  dictionary.blockDone := blocks.done
  dictionary.offsets := blocks.offsets
  dictionary.tablesChange := blocks.tablesChange
  control.frameDictionary := dictionary.dictionary

  // Blocks.
  blocks.clear := control.stop
  // Blocks come long after either changes.
  blocks.source := RegNext(Mux(dictionary.active, dictionary.source, control.open.bits.address))
  blocks.head := head
  blocks.position := cursor.position
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
  executor.frame.valid := control.decode.valid
  executor.frame.bits.bytes := control.room
  executor.frame.bits.dictionaryBytes := dictionary.dictionary.contentBytes
  executor.frame.bits.offsets := dictionary.dictionary.offsets
  executor.clear := control.stop
  private val run = Wire(Valid(new LiteralRun(params.decoder)))
  run.valid := literals.run.valid || blocks.run.valid
  run.bits := Mux(blocks.run.valid, blocks.run.bits, literals.run.bits)
  executor.arrived := Mux(run.valid, run.bits.count, 0.U)

  // Frames.
  control.frame <> frames.frame
  control.close := frames.close
  frames.closed := control.closed
  frames.hash := checksum.value
  control.finished := frames.finished
  control.element := frames.element
  control.failed := executor.failed || frames.failed || blocks.failed || dictionary.failed || literals.unreadable
  control.failure := PriorityMux(
    Seq(
      executor.failed -> executor.status,
      frames.failed -> frames.status,
      blocks.failed -> blocks.status,
      dictionary.failed -> dictionary.status,
      true.B -> Status.accessFault
    )
  )

  // Out.
  decoder.abandon := control.abandon
  // A cycle later, as the executor knows late what comes; it is not idle before.
  decoder.input := withReset(reset.asBool || control.stop)(Pipe(executor.output))
  decoder.literals := run
  literals.roomy := decoder.literalsRoomy.get
  blocks.roomy := decoder.literalsRoomy.get
  executor.roomy := decoder.roomy
  decoder.finish := control.finish
  control.made := decoder.made

  checksum.start.valid := control.decode.valid
  checksum.start.bits := control.decode.bits.destination
  checksum.finish := frames.close && RegNext(frames.close && RegNext(control.hashing) && decoder.drained, false.B)
  checksum.length := decoder.made
  control.hashed := checksum.done
  private val hashing = RegNext(control.hashing, false.B)
  writer.line.bits := decoder.output.bits
  checksum.line.bits := decoder.output.bits
  writer.line.valid := decoder.output.valid && (!hashing || checksum.line.ready)
  checksum.line.valid := decoder.output.valid && hashing && writer.line.ready
  decoder.output.ready := writer.line.ready && (!hashing || checksum.line.ready)

  control.refused := decoder.faulted || writer.faulted
  control.drained := decoder.drained
  control.writerQuiet := writer.quiet
  control.inputIdle := cursor.idle && blocks.memoryIdle

  idle := router.idle && cursor.idle && blocks.memoryIdle && writer.quiet && decoder.drained
}
