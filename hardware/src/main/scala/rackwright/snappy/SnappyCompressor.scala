package rackwright.snappy

import chisel3._

import rackwright.contract.HardwareUnit
import rackwright.lz77.Encoder
import rackwright.memory.{MemoryArbiter, MemoryPort, StreamLoader, StreamWriter}
import rackwright.rocc.CommandRouter

/** The unit `snappy-compress`: from a buffer in memory to a Snappy stream in memory. README.md is the contract.
  *
  * @param params
  *   what to build.
  */
class SnappyCompressor(params: SnappyCompressorParams = SnappyCompressorParams()) extends HardwareUnit {
  private val opcode = 1

  val command = commandPort(opcode)
  val read: MemoryPort = memoryPort(params.port)
  val write: MemoryPort = memoryPort(MemoryArbiter.downstream(params.port, 2))
  val idle = idlePort()

  private val router = Module(new CommandRouter(opcode, params.settings, params.commandQueue, params.port))
  private val control = Module(new SnappyCompressorControl(params))
  private val loader = Module(new StreamLoader(params.port, params.streamBytes, params.outstanding))
  private val encoder = Module(new Encoder(params.encoder, params.streamBytes, params.literalReadBytes))
  private val emitter = withReset(reset.asBool || control.clear) {
    Module(new SnappyElementEmitter(params.encoder, params.portBytes, params.literalReadBytes))
  }
  private val writer = Module(new StreamWriter(params.port, params.portBytes, params.outstanding))
  private val writes = Module(new MemoryArbiter(params.port, 2))

  router.command <> command
  control.operation <> router.operation
  router.result <> control.result

  loader.range <> control.load
  loader.stop := control.stop
  loader.memory <> read
  encoder.stream <> loader.stream
  encoder.job <> control.encode
  encoder.clear := control.clear

  emitter.length.valid := control.encode.fire
  emitter.length.bits := control.encode.bits.length
  emitter.sequence <> encoder.sequence
  emitter.literals := encoder.literals
  encoder.consume := emitter.consume

  writer.start <> control.write
  writer.chunk <> emitter.output
  writer.finish := control.finish
  writes.ports(0) <> writer.memory
  writes.ports(1) <> router.memory
  write <> writes.memory

  control.finished := emitter.finished
  control.consumed := loader.stream.consume
  control.unreadable := encoder.fault
  control.overflow := writer.overflow
  control.unwritable := writer.faulted
  control.loaderIdle := loader.idle
  control.written <> writer.result

  idle := router.idle && loader.idle && writer.idle && !encoder.busy

  event("hash_hit", encoder.events.hashHit)
  event("hash_lost", encoder.events.hashLost)
  event("match_bytes", encoder.events.matchBytes)
  event("literal_bytes", encoder.events.literalBytes)
  event("input_stall", encoder.events.inputStall)
  event("output_stall", encoder.events.outputStall || (emitter.output.valid && !emitter.output.ready))
}
