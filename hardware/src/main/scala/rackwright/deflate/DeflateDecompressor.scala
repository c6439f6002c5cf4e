package rackwright.deflate

import chisel3._
import chisel3.util._

import rackwright.compression.{DecompressorUnit, InputCursor}
import rackwright.lz77.{Decoder, LiteralRun}
import rackwright.memory.LineWriter
import rackwright.zstd.LiteralSource

import DeflateDecompressorParams.{sequencesUnderWay, waitingSequences}

/** The unit `deflate-decompress`: from DEFLATE, zlib or gzip in memory to a buffer in memory. README.md is the
  * contract.
  *
  * @param params
  *   what to build.
  */
class DeflateDecompressor(params: DeflateDecompressorParams = DeflateDecompressorParams())
    extends DecompressorUnit(params) {
  private val bits = params.speculation

  private val control = Module(new DeflateDecompressorControl(params))
  private val cursor = Module(new InputCursor(params.port, params.outstanding))
  // What decodes begins its work as after a reset, whatever was under way when an operation was given up.
  private def box[T <: Module](module: => T): T = withReset(reset.asBool || control.stop)(Module(module))
  private val input = box(new InputBits(params.port.bytes, bits))
  private val streams = box(new StreamReader)
  private val blocks = box(new BlockReader)
  private val reader = box(new CodeReader)
  private val tables = Module(new TokenTables)
  private val tokens = box(new TokenDecoder(bits))
  private val stored = Module(new LiteralSource(params.decoder))
  private val sequences = box(new Queue(new TokenSequence, waitingSequences))
  private val executor = Module(new SequenceExecutor(params.decoder))
  private val decoder = Module(new Decoder(params.decoder))
  private val writer = Module(new LineWriter(params.port, params.outstanding))
  private val checksum = Module(new OutputChecksum(params.port.bytes))
  connect(control.decode, decoder, writer, executor.starved)

  control.operation <> router.operation
  router.result <> control.result

  // In.
  cursor.open := control.open
  cursor.seek := input.move
  cursor.stop := control.stop
  cursor.memory <> read
  control.inputReady := cursor.ready
  cursor.stream.consume := input.stream.consume | stored.stream.consume
  for (stream <- Seq(input.stream, stored.stream)) {
    stream.data := cursor.stream.data
    stream.available := cursor.stream.available
    stream.last := cursor.stream.last
    stream.fault := cursor.stream.fault
  }
  input.seek.valid := blocks.seek.valid
  input.seek.bits := blocks.seek.bits
  input.hold := blocks.hold
  // Heads and checksums are taken a cycle late, so that deciding what to take and taking it are two paths.
  private val passed = withReset(reset.asBool || control.stop)(RegInit(0.U(streams.take.getWidth.W)))
  passed := streams.take | blocks.take
  private val head = input.head.after(passed)
  input.take := passed | reader.take
  input.running := blocks.running

  // Around the blocks.
  streams.open.valid := RegNext(control.open.valid, false.B)
  streams.open.bits := control.format
  streams.clear := control.stop
  streams.head := head
  streams.begun := control.decode.valid
  streams.blocksDone := blocks.done
  streams.closed := control.closed
  streams.adler := checksum.adler
  streams.crc := checksum.crc
  streams.made := decoder.made
  control.stream := streams.stream

  // Blocks.
  blocks.start := control.decode.valid
  blocks.clear := control.stop
  blocks.head := head
  blocks.unreadable := stored.unreadable
  blocks.lacking := stored.lacking
  blocks.described := reader.done
  blocks.misdescribed := reader.wrong
  blocks.tokensDone := tokens.done
  blocks.tokensWrong := tokens.wrong
  blocks.tokensEnd := tokens.end
  blocks.executed := sequences.io.count === 0.U && executor.idle
  blocks.starved := executor.starved
  reader.start := blocks.describe
  reader.clear := control.stop
  reader.head := input.head
  tables.described := blocks.useDescribed
  tables.fixed := blocks.useFixed
  tables.literal := reader.literal
  tables.distance := reader.distance
  tables.literalPlace := reader.literalPlace
  tables.distancePlace := reader.distancePlace

  // Codes, and bytes of stored blocks.
  tokens.start := blocks.tokens
  tokens.clear := !blocks.running
  tokens.codes := tables.codes
  tokens.chunk <> input.chunk
  tokens.roomy := RegNext(sequences.io.count <= (waitingSequences - sequencesUnderWay).U, false.B) &&
    decoder.literalsRoomy.get
  stored.order <> blocks.literals
  stored.clear := control.stop
  stored.roomy := decoder.literalsRoomy.get
  sequences.io.enq.valid := tokens.sequence.valid || blocks.sequence.valid
  sequences.io.enq.bits := Mux(tokens.sequence.valid, tokens.sequence.bits, blocks.sequence.bits)
  blocks.sequence.ready := sequences.io.enq.ready && !tokens.sequence.valid
  assert(!tokens.sequence.valid || sequences.io.enq.ready, "a sequence has no place")
  private val run = Wire(Valid(new LiteralRun(params.decoder)))
  run.valid := stored.run.valid || tokens.literals.valid
  run.bits.window := Mux(tokens.literals.valid, tokens.literals.bits.asUInt, stored.run.bits.window)
  run.bits.at := 0.U
  run.bits.count := Mux(tokens.literals.valid, tokens.literalCount, stored.run.bits.count)
  assert(!(stored.run.valid && tokens.literals.valid), "literals of two kinds at once")

  // Out.
  executor.begin.valid := control.decode.valid
  executor.begin.bits := control.room
  executor.clear := control.stop
  executor.sequence <> sequences.io.deq
  executor.arrived := Mux(run.valid, run.bits.count, 0.U)
  executor.roomy := decoder.roomy
  decoder.abandon := control.abandon
  decoder.input := executor.output
  decoder.literals := run
  private val executed = RegNext(blocks.executed, false.B) && blocks.executed
  private val close = streams.close && executed
  decoder.finish := control.finish
  control.close := close
  control.made := decoder.made

  writer.line <> decoder.output
  checksum.start.valid := control.decode.valid
  checksum.start.bits := control.decode.bits.destination
  checksum.line.valid := decoder.output.fire
  checksum.line.bits := decoder.output.bits
  checksum.finish := close && RegNext(close && decoder.drained, false.B)
  checksum.length := decoder.made
  control.hashed := checksum.done

  // Verdicts.
  control.failed := executor.failed || blocks.failed || streams.failed
  control.failure := Mux(executor.failed, executor.status, Mux(blocks.failed, blocks.status, streams.status))
  private val blocksDecide = RegInit(false.B)
  when(control.decode.valid) { blocksDecide := true.B }
  when(blocks.done || control.open.valid) { blocksDecide := false.B }
  private val element = Mux(blocksDecide, blocks.begin, streams.begin)
  control.element := element >> 3
  control.finished := streams.finished
  control.refused := decoder.faulted || writer.faulted
  control.drained := decoder.drained
  control.writerQuiet := writer.quiet
  control.inputIdle := cursor.idle

  idle := router.idle && cursor.idle && writer.quiet && decoder.drained
}
