package rackwright.compression

import chisel3._
import chisel3.util._

import rackwright.access.{MemoryArbiter, StreamLoader, StreamWriter, WrittenLines}
import rackwright.lz77.encode.{Encoder, EncoderEvents}
import rackwright.operation.{CommandRouter, Operation}
import rackwright.port.{CommandPort, MemoryPort, MemoryPortParams}

/** All parts of a compressor except its format: commands, input, the LZ77 encoder and output.
  *
  * @param params
  *   what to build.
  * @param opcode
  *   n of the custom-n this unit listens to.
  * @param supported
  *   whether the format supports an operation's settings.
  * @param reach
  *   the maximum distance of matches in the format, for an operation that allows a larger one.
  */
class CompressorCore(
    params: CompressorParams,
    opcode: Int,
    supported: Operation => Bool = _ => true.B,
    reach: Option[Operation => UInt] = None
) extends Module {
  val command = IO(new CommandPort)
  val read = IO(new MemoryPort(params.port))
  val write = IO(new MemoryPort(CompressorCore.writePort(params)))

  /** The boxes of the format, reset while `clear`. */
  val format = IO(Flipped(new FormatPort(params)))
  val clear = IO(Output(Bool()))
  val idle = IO(Output(Bool()))
  val events = IO(Output(new EncoderEvents))

  private val router =
    Module(new CommandRouter(opcode, params.settings, params.commandQueue, params.port, params.streaming))
  private val control = Module(new CompressorControl(params, supported, reach))
  private val loader = Module(new StreamLoader(params.port, params.streamBytes, params.outstanding))
  private val encoder = Module(new Encoder(params.encoder, params.streamBytes, params.literalReadBytes))
  private val writer = Module(new StreamWriter(params.port, params.chunkBytes, params.outstanding))
  private val writes = Module(new MemoryArbiter(params.port, 2))

  router.command <> command
  control.operation <> router.operation
  router.result <> control.result

  loader.range <> control.load
  loader.stop := control.stop
  if (params.streaming) gate() else loader.memory <> read
  encoder.stream <> loader.stream
  encoder.stream.available := Mux(format.roomy, loader.stream.available, 0.U)
  encoder.stream.fault := loader.stream.fault && format.roomy
  encoder.job <> control.encode
  encoder.clear := control.clear
  clear := control.clear

  // The encoder's input is longer by the dictionary.
  private val length =
    params.dictionary.fold(control.encode.bits.length)(_ => router.operation.bits.source.length(31, 0))
  format.start.valid := RegNext(control.encode.fire, false.B)
  format.start.bits := RegEnable(length, control.encode.fire)
  format.settings := control.settings
  format.sequence <> encoder.sequence
  format.literals := encoder.literals
  encoder.consume := format.consume
  format.input := loader.stream.data.asUInt(63, 0)
  format.inputCount := Mux(control.inDictionary, 0.U, loader.stream.consume)

  writer.start <> control.write
  writer.chunk <> format.output
  writer.finish := control.finish
  writes.ports(0) <> writer.memory
  writes.ports(1) <> router.memory
  write <> writes.memory

  control.finished := format.finished
  control.consumed := loader.stream.consume
  control.unreadable := encoder.fault
  control.overflow := writer.overflow
  control.unwritable := writer.faulted
  control.loaderIdle := loader.idle
  control.written <> writer.result

  /** Input in pieces: missing input is not read; and the output that memory has. */
  private def gate(): Unit = {
    val input = Module(new InputGate(params.port))
    val lines = Module(new WrittenLines(params.port, params.outstanding))
    val asked = router.operation.bits
    input.begin.valid := control.encode.fire
    input.begin.bits := asked.source
    input.inPieces := params.inPieces(asked)
    input.running := control.running.get
    input.extension <> router.extension.get
    input.reads <> loader.memory
    read <> input.memory

    val inMemory = RegInit(0.U(64.W))
    val first = RegEnable(asked.destination(params.port.offsetBits - 1, 0), control.write.fire)
    lines.start := control.write.fire
    lines.watched.watch(writer.memory)
    when(control.running.get) {
      inMemory := Mux(lines.lines === 0.U, 0.U, (lines.lines << params.port.offsetBits) - first)
    }
    when(control.written.fire) { inMemory := control.written.bits.written }
    when(router.operation.fire) { inMemory := 0.U }
    router.written.get := inMemory
  }

  idle := router.idle && loader.idle && writer.idle && !encoder.busy && !format.busy
  events := encoder.events
  events.outputStall := encoder.events.outputStall || (format.output.valid && !format.output.ready)
}

/** The external ports of a [[CompressorCore]]. */
object CompressorCore {

  /** Output, and the records of completed operations. */
  def writePort(params: CompressorParams): MemoryPortParams = MemoryArbiter.downstream(params.port, 2)
}
