package rackwright.drx

import chisel3._
import chisel3.util._

import rackwright.access.MemoryArbiter
import rackwright.operation.{CommandRouter, StreamCommands}
import rackwright.port.Status
import rackwright.stream.SkidBuffer
import rackwright.unit.HardwareUnit

/** A programmable unit that restructures data: access engines, a scratchpad and vector lanes. README.md is its
  * contract.
  */
class Drx(params: Params) extends HardwareUnit {
  val command = commandPort(StreamCommands.of(DrxSettings.all), Drx.opcode)
  val read = memoryPort(MemoryArbiter.downstream(params.port, 2))
  val write = memoryPort(MemoryArbiter.downstream(params.port, 2))
  val idle = idlePort()

  /** The clock of the published unit (Wang 2025, section 3.6). */
  override def hertz: Long = 1000000000L

  private val router = Module(new CommandRouter(Drx.opcode, DrxSettings.all, params.commandQueue, params.port))
  private val control = Module(new DrxControl(params))
  private val program = Module(new ProgramLoader(params))
  private val instructions = Module(new InstructionMemory(params))
  private val repeater = Module(new InstructionRepeater(params))
  private val executor = Module(new Executor(params))
  private val vector = Module(new VectorUnit(params))
  private val scratchpad = Module(new Scratchpad(params))
  private val loads = Module(new LoadEngine(params))
  private val stores = Module(new StoreEngine(params))
  private val reads = Module(new MemoryArbiter(params.port, 2))
  private val writes = Module(new MemoryArbiter(params.port, 2))

  command <> router.command
  control.operation <> router.operation
  router.result <> control.result

  program.start <> control.program
  control.loaded := program.done
  instructions.write := program.write
  instructions.index := repeater.index
  repeater.word := instructions.word
  repeater.start := control.begin
  repeater.stop := control.stop

  executor.step <> SkidBuffer(repeater.step, control.stop)
  executor.regions := control.regions
  executor.start := control.begin.valid
  executor.clear := control.stop
  executor.computed := vector.empty
  executor.loaded := loads.report.ended
  executor.stored := stores.report.ended
  vector.chunk <> executor.chunk
  loads.transfer <> Drx.waiting(executor.load, control.stop)
  stores.transfer <> Drx.waiting(executor.store, control.stop)
  loads.clear := control.stop
  stores.clear := control.stop

  for ((read, port) <- scratchpad.reads.zip(vector.reads)) { read <> port }
  scratchpad.reads(Scratchpad.stored) <> stores.read
  vector.data := VecInit(scratchpad.data.init)
  stores.data := scratchpad.data(Scratchpad.stored)
  scratchpad.storedPlace := stores.place
  scratchpad.writes(Scratchpad.results).valid := vector.write.valid
  scratchpad.writes(Scratchpad.results).bits := vector.write.bits
  scratchpad.writes(Scratchpad.loaded) <> loads.write

  control.ended := executor.ended
  control.failure := Failure.first(
    params,
    (executor.failure.valid, executor.failure.bits.status, executor.failure.bits.index),
    (loads.report.fault, Status.accessFault, loads.report.index),
    (stores.report.fault, Status.accessFault, stores.report.index)
  )
  control.at := executor.at
  control.outputBytes := executor.outputBytes
  control.quiet := vector.empty && loads.idle && stores.idle

  reads.ports(0) <> loads.memory
  reads.ports(1) <> program.memory
  read <> reads.memory
  writes.ports(0) <> stores.memory
  writes.ports(1) <> router.memory
  write <> writes.memory
  idle := router.idle && program.idle && loads.idle && stores.idle

  event("busy", !router.idle)
  event("settings", repeater.sets)
  event("steps", executor.taken)
  event("chunks", vector.chunk.fire)
  event("dependency_stall", vector.dependencyStall)
  event("bank_stall", vector.bankStall)
  event("transfer_stall", executor.transferStall)
}

/** Constants of the unit. */
object Drx {

  /** The opcode custom-1. */
  val opcode: Int = 1

  /** Capacity of the queue of transfers for each engine: all rows of a tile, so that computation does not stall behind
    * them.
    */
  private val transfers = 64

  /** A queue of transfers, which `clear` empties. */
  private def waiting(in: DecoupledIO[Transfer], clear: Bool): DecoupledIO[Transfer] = {
    val queue = Module(new Queue(chiselTypeOf(in.bits), transfers, hasFlush = true))
    queue.io.enq <> in
    queue.flush := clear
    queue.io.deq
  }
}
