package rackwright.gather

import chisel3._
import chisel3.util._

import rackwright.port.CommandSet
import rackwright.unit.HardwareUnit

/** Fetches elements of a table by a sequence of indices, ahead of the program. README.md is the contract. */
class Gather(params: Params) extends HardwareUnit {
  val command = commandPort(CommandSet(GatherCommands.commands), Gather.opcode)
  val indices = memoryPort(params.indices)
  val table = memoryPort(params.table)
  val idle = idlePort()

  private val control = Module(new GatherControl(params))
  private val stop = control.stop
  private val sequences =
    withReset(reset.asBool || stop)(Module(new Queue(new Sequence, params.sequences)))
  private val reader = Module(new IndexReader(params))
  private val elements = Module(new ElementReader(params))

  command <> control.command
  indices <> reader.memory
  table <> elements.memory

  sequences.io.enq <> control.sequence
  reader.sequence <> sequences.io.deq
  reader.stop := stop
  elements.index <> reader.index
  elements.stop := stop
  control.piece <> elements.piece
  control.indexFault := reader.fault
  control.prefetchFault := elements.fault
  control.stopped := reader.idle && elements.quiet

  idle := control.idle && reader.idle && elements.idle && !sequences.io.deq.valid

  event("stall", control.stall)
  event("elements", elements.memory.request.fire)
}

/** Constants of the gather unit. */
object Gather {

  /** custom-1. */
  val opcode: Int = 1
}
