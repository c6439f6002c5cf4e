package rackwright.zstd

import chisel3._

import rackwright.contract.HardwareUnit
import rackwright.lz77.Encoder
import rackwright.memory.{MemoryArbiter, MemoryPort, StreamLoader, StreamWriter}
import rackwright.rocc.CommandRouter

/** The unit `zstd-compress`: from a buffer in memory to a Zstandard frame in memory. README.md is the contract.
  *
  * @param params
  *   what to build.
  */
class ZstdCompressor(params: ZstdCompressorParams = ZstdCompressorParams()) extends HardwareUnit {
  private val opcode = 1

  val command = commandPort(opcode)
  val read: MemoryPort = memoryPort(params.port)
  val write: MemoryPort = memoryPort(MemoryArbiter.downstream(params.port, 2))
  val idle = idlePort()

  private val router = Module(new CommandRouter(opcode, params.settings, params.commandQueue, params.port))
  private val control = Module(new ZstdCompressorControl(params))
  private val loader = Module(new StreamLoader(params.port, params.streamBytes, params.outstanding))
  private val encoder = Module(new Encoder(params.encoder, params.streamBytes, params.literalReadBytes))
  private val writer = Module(new StreamWriter(params.port, FrameWriter.chunkBytes, params.outstanding))
  private val writes = Module(new MemoryArbiter(params.port, 2))
  private val boxes = withReset(reset.asBool || control.clear) { Module(new BlockBoxes(params)) }

  router.command <> command
  control.operation <> router.operation
  router.result <> control.result

  loader.range <> control.load
  loader.stop := control.stop
  loader.memory <> read
  encoder.stream <> loader.stream
  encoder.job.valid := control.encode.valid
  encoder.job.bits := control.encode.bits
  control.encode.ready := encoder.job.ready
  encoder.clear := control.clear

  boxes.start.valid := RegNext(control.encode.fire, false.B)
  boxes.start.bits := control.frame.length
  boxes.hashing := control.frame.hashing
  boxes.dictionaryId := control.frame.dictionaryId
  boxes.offsets := control.frame.offsets
  boxes.sequence <> encoder.sequence
  boxes.literals := encoder.literals
  encoder.consume := boxes.consume
  boxes.input := loader.stream.data.asUInt
  boxes.inputCount := Mux(control.inDictionary, 0.U, loader.stream.consume)

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
