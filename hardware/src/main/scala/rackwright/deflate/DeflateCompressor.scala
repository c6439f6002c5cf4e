package rackwright.deflate

import chisel3._
import chisel3.util._

import rackwright.contract.HardwareUnit
import rackwright.lz77.Encoder
import rackwright.memory.{MemoryArbiter, MemoryPort, StreamLoader, StreamWriter}
import rackwright.rocc.CommandRouter

/** The unit `deflate-compress`: from a buffer in memory to DEFLATE, zlib or gzip data in memory. README.md is the
  * contract.
  *
  * @param params
  *   what to build.
  */
class DeflateCompressor(params: DeflateCompressorParams = DeflateCompressorParams()) extends HardwareUnit {
  private val opcode = 1

  val command = commandPort(opcode)
  val read: MemoryPort = memoryPort(params.port)
  val write: MemoryPort = memoryPort(MemoryArbiter.downstream(params.port, 2))
  val idle = idlePort()

  private val router = Module(new CommandRouter(opcode, params.settings, params.commandQueue, params.port))
  private val control = Module(new DeflateCompressorControl(params))
  private val loader = Module(new StreamLoader(params.port, params.streamBytes, params.outstanding))
  private val encoder = Module(new Encoder(params.encoder, params.streamBytes, params.literalReadBytes))
  private val writer = Module(new StreamWriter(params.port, DeflateCompressorParams.chunkBytes, params.outstanding))
  private val writes = Module(new MemoryArbiter(params.port, 2))
  private val length = RegEnable(control.encode.bits.length, control.encode.fire)
  private val boxes = withReset(reset.asBool || control.clear) { Module(new DeflateBoxes(params)) }

  router.command <> command
  control.operation <> router.operation
  router.result <> control.result

  loader.range <> control.load
  loader.stop := control.stop
  loader.memory <> read
  // Input is taken while there is room to keep it.
  encoder.stream <> loader.stream
  encoder.stream.available := Mux(boxes.roomy, loader.stream.available, 0.U)
  encoder.stream.fault := loader.stream.fault && boxes.roomy
  encoder.job.valid := control.encode.valid
  encoder.job.bits := control.encode.bits
  control.encode.ready := encoder.job.ready
  encoder.clear := control.clear

  boxes.start.valid := RegNext(control.encode.fire, false.B)
  boxes.start.bits := length
  boxes.format := control.format
  boxes.sequence <> encoder.sequence
  boxes.literals := encoder.literals
  encoder.consume := boxes.consume
  boxes.input := loader.stream.data.asUInt(63, 0)
  boxes.inputCount := loader.stream.consume

  writer.start <> control.write
  writer.chunk <> boxes.output
  writer.finish := control.finish
  writes.ports(0) <> writer.memory
  writes.ports(1) <> router.memory
  write <> writes.memory

  control.finished := boxes.finished
  control.consumed := loader.stream.consume
  control.unreadable := encoder.fault
  control.overflow := writer.overflow
  control.unwritable := writer.faulted
  control.loaderIdle := loader.idle
  control.written <> writer.result

  idle := router.idle && loader.idle && writer.idle && !encoder.busy && !boxes.busy

  event("hash_hit", encoder.events.hashHit)
  event("hash_lost", encoder.events.hashLost)
  event("match_bytes", encoder.events.matchBytes)
  event("literal_bytes", encoder.events.literalBytes)
  event("input_stall", encoder.events.inputStall)
  event("output_stall", encoder.events.outputStall)
}
