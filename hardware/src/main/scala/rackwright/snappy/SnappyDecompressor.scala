package rackwright.snappy

import chisel3._

import rackwright.contract.HardwareUnit
import rackwright.lz77.{Decoder, WrittenBytes}
import rackwright.memory.{MemoryArbiter, MemoryPort, StreamLoader, StreamWriter}
import rackwright.rocc.CommandRouter

/** The unit `snappy-decompress`: from a Snappy stream in memory to a buffer in memory. README.md is the contract.
  *
  * @param params
  *   what to build.
  */
class SnappyDecompressor(params: SnappyDecompressorParams = SnappyDecompressorParams()) extends HardwareUnit {
  private val opcode = 0

  val command = commandPort(opcode)
  val read: MemoryPort = memoryPort(params.port)
  val write: MemoryPort = memoryPort(MemoryArbiter.downstream(params.port, 2))
  val history: MemoryPort = memoryPort(params.port)
  val idle = idlePort()

  private val router = Module(new CommandRouter(opcode, params.settings, params.commandQueue, params.port))
  private val control = Module(new SnappyDecompressorControl(params))
  private val loader = Module(new StreamLoader(params.port, params.portBytes, params.outstanding))
  private val elements = Module(new SnappyElementDecoder(params.decoder))
  private val decoder = Module(new Decoder(params.decoder))
  private val writer = Module(new StreamWriter(params.port, params.portBytes, params.outstanding))
  private val writes = Module(new MemoryArbiter(params.port, 2))
  private val acknowledged = Module(new WrittenBytes(params.port, params.outstanding))

  router.command <> command
  control.operation <> router.operation
  router.result <> control.result

  loader.range <> control.load
  loader.stop := control.stop
  loader.memory <> read

  private val stream = loader.stream
  control.preamble := SnappyPreamble.decode(stream.data.asUInt(39, 0), stream.available)
  control.inputEnds := stream.last
  control.inputFault := stream.fault
  elements.stream.data := stream.data
  elements.stream.available := stream.available
  elements.stream.last := stream.last
  elements.stream.fault := stream.fault
  stream.consume := Mux(control.body, elements.stream.consume, control.consume)

  elements.start := control.decode.valid
  elements.declared := control.declared
  elements.inputLeft := control.bodyBytes
  elements.enable := control.body
  control.finished := elements.finished
  control.malformed := elements.malformed
  control.unreadable := elements.unreadable
  control.elementLeft := elements.elementLeft

  decoder.start := control.decode
  decoder.abandon := control.abandon
  decoder.input <> elements.output
  decoder.memory <> history
  decoder.acknowledged := acknowledged.bytes

  writer.start <> control.write
  writer.chunk.valid := decoder.output.valid
  writer.chunk.bits.data := decoder.output.bits.data.asTypeOf(writer.chunk.bits.data)
  writer.chunk.bits.count := decoder.output.bits.count
  decoder.output.ready := writer.chunk.ready
  writer.finish := control.finish
  writes.ports(0) <> writer.memory
  writes.ports(1) <> router.memory
  write <> writes.memory

  acknowledged.start.valid := writer.start.fire
  acknowledged.start.bits := writer.start.bits.address
  acknowledged.watched.watch(writer.memory)

  control.refused := decoder.faulted || writer.faulted
  control.drained := decoder.drained
  control.loaderIdle := loader.idle
  control.written <> writer.result

  idle := router.idle && loader.idle && writer.idle && decoder.drained

  event("input_stall", elements.starved)
  event("history_fallback", decoder.events.fallbacks)
  event("fallback_stall", decoder.events.fallbackStall)
  event("output_stall", decoder.events.outputStall)
  event("steps", decoder.events.steps)
  event("elements", decoder.events.segments)
}
