package rackwright.adapter

import chisel3._

import rackwright.operation.StreamCommands
import rackwright.port.{CommandPort, MemoryPort}
import rackwright.queue.{QueueControl, QueueEngine}
import rackwright.unit._

/** A unit on a tile: its commands come from a queue in memory, and their results go to another one. An element is an
  * operation of a streaming unit, and one command of any other.
  *
  * Every port keeps its name, but for that of commands; registers (`mmio`), an interrupt line and the memory port
  * `queues` are added.
  */
class QueuedUnit(build: => HardwareUnit) extends HardwareUnit {
  private val unit = Module(build)
  private val unitIdle = Wire(Bool())

  override def hertz: Long = unit.hertz
  override def attach: Seq[Attach] = unit.attach
  override def desiredName: String = unit.desiredName + "Queued"

  private val (commands, description) = QueuedUnit.commandsOf(unit)
  private val known = description.commands.commands
  private val engine =
    Module(new QueueEngine(description.opcodes.head, Option.unless(QueuedUnit.suits(known))(known)))
  mmioPort(QueueControl.registers).suggestName("mmio") <> engine.mmio
  commands <> engine.command
  memoryPort(QueueEngine.port).suggestName("queues") <> engine.memory
  interruptPort("queue") := engine.interrupt

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

  /** The only command port of a unit, with one opcode. */
  private def commandsOf(unit: HardwareUnit): (CommandPort, CommandDescription) = unit.madePorts.collect {
    case (inner: CommandPort, description @ CommandDescription(_, Seq(_), _, false)) => (inner, description)
  } match {
    case Seq(only) => only
    case _ =>
      throw UsageError(s"--command queue is for units with one port for commands, unlike ${unit.desiredName}")
  }

  /** The same of a unit that has all commands that a descriptor becomes, and its opcode. */
  private[adapter] def streamCommandsOf(unit: HardwareUnit): (CommandPort, Int) = {
    val (port, description) = commandsOf(unit)
    if (!suits(description.commands.commands))
      throw UsageError(s"a tile of processes is for units with the commands of streams, unlike ${unit.desiredName}")
    (port, description.opcodes.head)
  }

  private[adapter] def suits(commands: Seq[rackwright.port.UnitCommand]): Boolean = {
    val needed = Seq(StreamCommands.source, StreamCommands.limit, StreamCommands.destinationAndStart)
    needed.forall(command => commands.exists(_.name == command.name))
  }
}
