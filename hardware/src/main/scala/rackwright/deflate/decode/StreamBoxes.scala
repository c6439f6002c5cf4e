package rackwright.deflate.decode

import chisel3._
import chisel3.util._

import rackwright.compression.{DecompressorPort, LiteralSource}
import rackwright.lz77.decode.LiteralRun

import DeflateDecompressorParams.{sequencesUnderWay, waitingSequences}

/** Everything between the input and the LZ77 decoder: containers, blocks, codes and checksums.
  *
  * @param params
  *   what to build.
  */
class StreamBoxes(params: DeflateDecompressorParams) extends Module {
  val decompressor = IO(new DecompressorPort(params))
  import decompressor.{clear, open}
  private val bits = params.speculation

  // The decoding modules restart from the reset state, whatever was in progress when an operation was abandoned.
  private def box[T <: Module](module: => T): T = withReset(reset.asBool || clear)(Module(module))
  private val input = box(new InputBits(params.port.bytes, bits))
  private val streams = box(new StreamReader)
  private val blocks = box(new StreamBlocks)
  private val reader = box(new CodeReader)
  private val tables = Module(new TokenTables)
  private val tokens = box(new TokenDecoder(bits))
  private val stored = Module(new LiteralSource(params.decoder))
  private val sequences = box(new Queue(new TokenSequence, waitingSequences))
  private val executor = Module(new TokenExecutor(params.decoder))
  private val checksum = Module(new OutputChecksum(params.port.bytes))

  // Input.
  decompressor.seek := input.move
  decompressor.enter.valid := false.B
  decompressor.enter.bits := DontCare
  decompressor.memoryIdle := true.B
  decompressor.stream.consume := input.stream.consume | stored.stream.consume
  for (stream <- Seq(input.stream, stored.stream)) {
    stream.data := decompressor.stream.data
    stream.available := decompressor.stream.available
    stream.last := decompressor.stream.last
    stream.fault := decompressor.stream.fault
  }
  input.seek.valid := blocks.seek.valid
  input.seek.bits := blocks.seek.bits
  input.hold := blocks.hold
  // Headers and checksums are consumed one cycle late, so that the decision and the consumption are separate paths.
  private val passed = withReset(reset.asBool || clear)(RegInit(0.U(streams.take.getWidth.W)))
  passed := streams.take | blocks.take
  private val head = input.head.after(passed)
  input.take := passed | reader.take
  // The end of a description is requested long after it has been consumed.
  input.counted := passed | withReset(reset.asBool || clear)(RegNext(reader.take, 0.U(reader.take.getWidth.W)))
  input.running := blocks.running

  // Containers.
  streams.open.valid := RegNext(open.valid, false.B)
  streams.open.bits := decompressor.settings.elements(params.format.name)
  streams.clear := clear
  streams.head := head
  streams.begun := decompressor.begun
  streams.blocksDone := blocks.done
  streams.closed := decompressor.closed
  streams.adler := checksum.adler
  streams.crc := checksum.crc
  streams.made := decompressor.made
  decompressor.begin := streams.stream

  // Blocks.
  blocks.start := decompressor.begun
  blocks.clear := clear
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
  reader.clear := clear
  reader.head := input.head
  tables.described := blocks.useDescribed
  tables.fixed := blocks.useFixed
  tables.literal := reader.literal
  tables.distance := reader.distance
  tables.literalPlace := reader.literalPlace
  tables.distancePlace := reader.distancePlace

  // Compressed data, and bytes of stored blocks.
  tokens.start := blocks.tokens
  tokens.clear := !blocks.running
  tokens.codes := tables.codes
  tokens.chunk <> input.chunk
  tokens.roomy := RegNext(sequences.io.count <= (waitingSequences - sequencesUnderWay).U, false.B) &&
    decompressor.literalsRoomy
  stored.order <> blocks.literals
  stored.clear := clear
  stored.roomy := decompressor.literalsRoomy
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

  // Output.
  executor.begin.valid := decompressor.begun
  executor.begin.bits := decompressor.room
  executor.clear := clear
  executor.sequence <> sequences.io.deq
  executor.arrived := Mux(run.valid, run.bits.count, 0.U)
  executor.roomy := decompressor.roomy
  decompressor.segments := executor.output
  decompressor.literals := run
  decompressor.starved := executor.starved
  private val executed = RegNext(blocks.executed, false.B) && blocks.executed
  private val close = streams.close && executed
  decompressor.close := close

  checksum.start.valid := decompressor.begun
  checksum.start.bits := decompressor.firstByte
  checksum.line := decompressor.line
  checksum.finish := close && RegNext(close && decompressor.drained, false.B)
  checksum.length := decompressor.made
  decompressor.hashed := checksum.done
  decompressor.lineReady := true.B

  // Error status.
  decompressor.failed := executor.failed || blocks.failed || streams.failed
  decompressor.failure := Mux(executor.failed, executor.status, Mux(blocks.failed, blocks.status, streams.status))
  private val blocksDecide = RegInit(false.B)
  when(decompressor.begun) { blocksDecide := true.B }
  when(blocks.done || open.valid) { blocksDecide := false.B }
  // A copy may prove invalid after the block that holds it has been decoded.
  private val element = Mux(blocksDecide || executor.failed, blocks.begin, streams.begin)
  decompressor.element := element >> 3
  decompressor.finished := streams.finished
}
