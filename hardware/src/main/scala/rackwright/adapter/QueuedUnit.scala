package rackwright.adapter

import chisel3._

import rackwright.operation.StreamCommands
import rackwright.port.{CommandPort, MemoryPort}
import rackwright.queue.{QueueControl, QueueEngine}
import rackwright.unit._

/** A streaming unit on a tile: its commands come from a queue in memory, and their results go to another one.
  *
  * Every port keeps its name, but for that of commands; registers (`mmio`) and the memory port `queues` are added.
  */
class QueuedUnit(build: => HardwareUnit) extends HardwareUnit {
  private val unit = Module(build)
  private val unitIdle = Wire(Bool())

  override def hertz: Long = unit.hertz
  override def attach: Seq[Attach] = unit.attach
  override def desiredName: String = unit.desiredName + "Queued"

  private val (commands, opcode) = QueuedUnit.commandsOf(unit)
  private val engine = Module(new QueueEngine(opcode))
  mmioPort(QueueControl.registers).suggestName("mmio") <> engine.mmio
  commands <> engine.command
  memoryPort(QueueEngine.port).suggestName("queues") <> engine.memory

  unit.madePorts.foreach {
    case (_: CommandPort, _) =>
    case (inner: MemoryPort, MemoryDescription(name, params, intermediate)) =>
      memoryPort(params, intermediate).suggestName(name) <> inner
    case (inner: Bool, IdleDescription(name)) =>
      unitIdle := inner
      idlePort().suggestName(name) := unitIdle && engine.idle
    case (inner: UInt, EventDescription(name, _)) => event(name, inner)
    case (_, other) => throw UsageError(s"--command queue has nothing to join port ${other.name} to")
  }
  event("queue_taken", engine.taken)
  event("queue_answered", engine.answered)
  event("queue_looks", engine.looked)
}

/** Which units can be on a tile. */
object QueuedUnit {

  /** The only command port of a unit that has all commands that a descriptor becomes, and its opcode. */
  private[adapter] def commandsOf(unit: HardwareUnit): (CommandPort, Int) = unit.madePorts.collect {
    case (inner: CommandPort, CommandDescription(_, opcodes, known, false)) if suits(known.commands) =>
      (inner, opcodes.head)
  } match {
    case Seq(only) => only
    case _ => throw UsageError(s"--command queue is for units with the commands of streams, unlike ${unit.desiredName}")
  }

  private[adapter] def suits(commands: Seq[rackwright.port.UnitCommand]): Boolean = {
    val needed = Seq(StreamCommands.source, StreamCommands.limit, StreamCommands.destinationAndStart)
    needed.forall(command => commands.exists(_.name == command.name))
  }
}
