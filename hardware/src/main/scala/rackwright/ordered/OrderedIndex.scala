package rackwright.ordered

import chisel3._

import rackwright.access.{MemoryArbiter, StreamLoader, StreamWriter}
import rackwright.operation.{CommandRouter, StreamCommands}
import rackwright.unit.HardwareUnit

/** Answers queries from a B+ tree in memory. README.md is the contract. */
class OrderedIndex(params: Params) extends HardwareUnit {
  val command = commandPort(StreamCommands.of(OrderedSettings.all), OrderedIndex.opcode)
  val read = memoryPort(params.port)
  val nodes = memoryPort(params.nodes)
  val write = memoryPort(MemoryArbiter.downstream(params.port, 2))
  val idle = idlePort()

  private val router =
    Module(new CommandRouter(OrderedIndex.opcode, OrderedSettings.all, params.commandQueue, params.port))
  private val loader = Module(new StreamLoader(params.port, Params.queryBytes, params.outstanding))
  private val writer = Module(new StreamWriter(params.port, Params.queryBytes, params.outstanding))
  private val arbiter = Module(new MemoryArbiter(params.port, 2))
  private val control = Module(new OrderedControl)
  private val walks = Module(new Walks(params))

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
  walks.tree := control.tree
  walks.clear := control.clear
  control.isReady := walks.ready
  walks.query <> control.query
  control.ended <> walks.ended
  control.empty := walks.empty

  read <> loader.memory
  nodes <> walks.memory
  arbiter.ports(0) <> writer.memory
  arbiter.ports(1) <> router.memory
  write <> arbiter.memory
  idle := router.idle && loader.idle && writer.idle

  event("busy", !router.idle)
  event("queries", walks.query.fire)
  event("hits", walks.hit)
  event("misses", walks.miss)
}

/** Constants of the unit. */
object OrderedIndex {

  /** custom-2. */
  val opcode: Int = 2
}
