package rackwright.adapter

import scala.collection.mutable

import chisel3._
import chisel3.util._

import rackwright.access.translation.{PageWalker, TranslatedPort, TranslationParams}
import rackwright.port.{CommandPort, CommandSet, MemoryPort}
import rackwright.queue.{ContextEngine, EndpointCommands, QueueEngine}
import rackwright.unit._

/** A streaming unit on a tile that processes use by virtual addresses: its commands come from their queues.
  *
  * Every port keeps its name, but for that of commands, which are those of the tile; the memory ports `queues`, `walk`
  * and `probe` are added, the last two for page tables.
  */
class TranslatedTile(build: => HardwareUnit, params: TranslationParams) extends HardwareUnit {
  private val renew = Wire(Bool())
  private val unit = withReset(reset.asBool || renew)(Module(build))
  private val unitIdle, allIdle = Wire(Bool())

  override def hertz: Long = unit.hertz
  override def attach: Seq[Attach] = Seq(Attach.Machine)
  override def desiredName: String = unit.desiredName + "TranslatedTile"

  private val (commands, opcode) = QueuedUnit.streamCommandsOf(unit)
  private val engine = Module(new ContextEngine(opcode))
  private val set = CommandSet(EndpointCommands.commands)
  translatedCommandPort(set, EndpointCommands.opcode).suggestName("command") <> engine.outer
  commands <> engine.command
  renew := engine.renew
  interruptPort("queue") := engine.interrupt

  private def translated(inner: MemoryPort, name: String): TranslatedPort = {
    val port = Module(new TranslatedPort(inner.params, params, revocable = true)).suggestName(s"${name}_translated")
    port.unit <> inner
    port.context := engine.context
    port.forget := engine.forget
    port.barred.get := engine.barred
    port
  }
  private val queues = translated(engine.memory, "queues")
  queues.calm := engine.closed
  memoryPort(QueueEngine.port).suggestName("queues") <> queues.memory
  private val between = mutable.ArrayBuffer.empty[TranslatedPort]
  unit.madePorts.foreach {
    case (_: CommandPort, _) =>
    case (inner: MemoryPort, MemoryDescription(name, shape, intermediate)) =>
      val port = translated(inner, name)
      port.calm := unitIdle
      between += port
      memoryPort(shape, intermediate).suggestName(name) <> port.memory
    case (inner: Bool, IdleDescription(name)) =>
      unitIdle := inner
      idlePort().suggestName(name) := allIdle
    case (inner: UInt, EventDescription(name, _)) => event(name, inner)
    case (_, other) => throw UsageError(s"--command queue has nothing to join port ${other.name} to")
  }

  private val translators = queues +: between.toSeq
  private val walker = Module(new PageWalker(translators.size))
  walker.context := engine.context
  walker.forget := engine.forget
  translators.zipWithIndex.foreach { case (port, index) =>
    walker.request(index) <> port.walk
    port.walked := walker.result(index)
  }
  memoryPort(PageWalker.port).suggestName("walk") <> walker.memory
  memoryPort(PageWalker.port).suggestName("probe") <> engine.probe

  engine.queueFault := queues.fault
  // Of several refused accesses in one cycle, that of the first port is reported.
  engine.unitFault.valid := between.map(_.fault.valid).reduce(_ || _)
  engine.unitFault.bits := PriorityMux(between.map(port => port.fault.valid -> port.fault.bits).toSeq)
  private val calm = walker.idle && translators.map(_.idle).reduce(_ && _)
  engine.unitStill := unitIdle && calm
  allIdle := unitIdle && engine.idle && calm

  event("queue_taken", engine.taken)
  event("queue_answered", engine.answered)
  event("queue_looks", engine.looked)
  event("page_walks", PopCount(translators.map(_.walk.fire)))
  event("refused_accesses", PopCount(translators.map(_.fault.valid)))
}
