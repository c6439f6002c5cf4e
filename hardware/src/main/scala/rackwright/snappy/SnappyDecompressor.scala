package rackwright.snappy

import chisel3._

import rackwright.contract.HardwareUnit
import rackwright.lz77.{Decoder, WrittenLines}
import rackwright.memory.{BeatLoader, LineWriter, MemoryArbiter, MemoryPort}
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
  private val loader = Module(new BeatLoader(params.port, params.outstanding))
  private val elements = Module(new SnappyElementDecoder(params.decoder))
  private val decoder = Module(new Decoder(params.decoder))
  private val writer = Module(new LineWriter(params.port, params.outstanding))
  private val writes = Module(new MemoryArbiter(params.port, 2))
  private val acknowledged = Module(new WrittenLines(params.port, params.outstanding))

  router.command <> command
  control.operation <> router.operation
  router.result <> control.result

  loader.range <> control.load
  loader.stop := control.stop
  loader.memory <> read

  elements.open.valid := control.load.fire
  elements.open.bits := control.load.bits.address
  elements.beat <> loader.beat
  elements.stop := control.stop
  elements.start.valid := control.decode.valid
  elements.start.bits := control.preambleBytes
  elements.declared := control.declared
  elements.inputLeft := control.bodyBytes
  elements.enable := control.body && decoder.roomy
  control.preamble := elements.preamble
  control.inputFault := elements.faultAhead
  control.finished := elements.finished
  control.malformed := elements.malformed
  control.unreadable := elements.unreadable
  control.elementLeft := elements.elementLeft

  decoder.start := control.decode
  decoder.abandon := control.abandon
  decoder.input := elements.output
  decoder.literals := elements.literals
  decoder.finish := control.finish
  decoder.memory <> history
  decoder.acknowledged := acknowledged.lines
  control.made := decoder.made

  writer.start.valid := control.decode.valid
  writer.start.bits := control.decode.bits.destination
  writer.line <> decoder.output
  writes.ports(0) <> writer.memory
  writes.ports(1) <> router.memory
  write <> writes.memory

  acknowledged.start := control.decode.valid
  acknowledged.watched.watch(writer.memory)

  control.refused := decoder.faulted || writer.faulted
  control.drained := decoder.drained
  control.loaderIdle := loader.idle
  control.writerQuiet := writer.quiet

  idle := router.idle && loader.idle && writer.quiet && decoder.drained

  event("input_stall", elements.starved)
  event("history_fallback", decoder.events.fallbacks)
  event("fallback_stall", decoder.events.fallbackStall)
  event("output_stall", decoder.events.outputStall)
  event("steps", decoder.events.steps)
  event("elements", decoder.events.segments)
}
