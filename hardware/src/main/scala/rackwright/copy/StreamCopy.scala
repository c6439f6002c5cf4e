package rackwright.copy

import chisel3._

import rackwright.access.{MemoryArbiter, StreamLoader, StreamWriter}
import rackwright.operation.{CommandRouter, StreamCommands}
import rackwright.unit.HardwareUnit

/** Copies a range of memory, one beat per cycle. README.md is the contract. */
class StreamCopy(params: Params) extends HardwareUnit {
  val command = commandPort(StreamCommands.of(Seq.empty), StreamCopy.opcode)
  val read = memoryPort(params.port)
  val write = memoryPort(MemoryArbiter.downstream(params.port, 2))
  val idle = idlePort()

  private val router = Module(new CommandRouter(StreamCopy.opcode, Seq.empty, params.commandQueue, params.port))
  private val loader = Module(new StreamLoader(params.port, params.streamBytes, params.outstanding))
  private val writer = Module(new StreamWriter(params.port, params.streamBytes, params.outstanding))
  private val arbiter = Module(new MemoryArbiter(params.port, 2))
  private val control = Module(new CopyControl(params.streamBytes))

  command <> router.command
  control.operation <> router.operation
  router.result <> control.result
  loader.range <> control.range
  loader.stop := control.stop
  control.stream <> loader.stream
  writer.start <> control.start
  writer.chunk <> control.chunk
  writer.finish := control.finish
  control.overflow := writer.overflow
  control.written <> writer.result

  read <> loader.memory
  arbiter.ports(0) <> writer.memory
  arbiter.ports(1) <> router.memory
  write <> arbiter.memory
  idle := router.idle && loader.idle && writer.idle

  event("busy", !router.idle)
  event("input_stall", control.inputStall)
  event("output_stall", control.outputStall)
  event("bytes", control.moved)
}

/** Constants of the copy unit. */
object StreamCopy {

  /** custom-2. */
  val opcode: Int = 2
}
