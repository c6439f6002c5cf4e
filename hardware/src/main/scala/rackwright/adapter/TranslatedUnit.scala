package rackwright.adapter

import scala.collection.mutable

import chisel3._
import chisel3.util._

import rackwright.access.translation.{ContextGate, PageWalker, TranslatedPort, TranslationParams}
import rackwright.port.{CommandPort, MemoryPort}
import rackwright.unit.{
  Attach,
  CommandDescription,
  EventDescription,
  HardwareUnit,
  IdleDescription,
  InterruptDescription,
  MemoryDescription,
  StreamDescription
}

/** A unit whose commands and buffers have virtual addresses: translation between its memory ports and the outside.
  *
  * Every port keeps its name; `walk` is added, through which page tables are read. README.md is the contract.
  */
class TranslatedUnit(build: => HardwareUnit, params: TranslationParams) extends HardwareUnit {
  private val gate = Module(new ContextGate)
  private val unit = withReset(reset.asBool || gate.renew)(Module(build))
  private val between = mutable.ArrayBuffer.empty[TranslatedPort]
  private val unitIdle = Wire(Bool())
  private val allIdle = Wire(Bool())

  override def hertz: Long = unit.hertz
  override def attach: Seq[Attach] = unit.attach
  override def desiredName: String = unit.desiredName + "Translated"

  unit.madePorts.foreach {
    case (inner: CommandPort, CommandDescription(_, opcodes, commands, _)) =>
      translatedCommandPort(commands.and(ContextGate.fault), opcodes: _*).suggestName("command") <> gate.outer
      inner <> gate.inner
    case (inner: MemoryPort, MemoryDescription(name, shape, intermediate)) =>
      val translated = Module(new TranslatedPort(shape, params)).suggestName(s"${name}_translated")
      between += translated
      translated.unit <> inner
      memoryPort(shape, intermediate).suggestName(name) <> translated.memory
    case (inner: DecoupledIO[_], StreamDescription(name, outward, bytes)) =>
      (if (outward) streamOutput(bytes) else streamInput(bytes)).suggestName(name) <> inner
    case (inner: Bool, InterruptDescription(name)) => interruptPort(name) := inner
    case (inner: Bool, IdleDescription(name)) =>
      unitIdle := inner
      idlePort().suggestName(name) := allIdle
    case (inner: UInt, EventDescription(name, _)) => event(name, inner)
    case (_, other) => throw new IllegalArgumentException(s"port ${other.name} can't be given virtual addresses")
  }
  require(between.nonEmpty, s"${unit.desiredName} has no memory port: there is nothing to translate")

  private val walker = Module(new PageWalker(between.size))
  memoryPort(PageWalker.port).suggestName("walk") <> walker.memory
  walker.context := gate.context
  walker.forget := gate.forget
  for ((port, index) <- between.zipWithIndex) {
    port.context := gate.context
    port.forget := gate.forget
    port.calm := unitIdle
    walker.request(index) <> port.walk
    port.walked := walker.result(index)
  }

  // Of several refused accesses in one cycle, that of the first port is reported.
  gate.fault.valid := between.map(_.fault.valid).reduce(_ || _)
  gate.fault.bits := PriorityMux(between.map(port => port.fault.valid -> port.fault.bits).toSeq)
  gate.calm := unitIdle
  allIdle := unitIdle && gate.idle && walker.idle && between.map(_.idle).reduce(_ && _)

  event("page_walks", PopCount(between.map(_.walk.fire)))
  event("walk_cycles", !walker.idle)
  event("refused_accesses", PopCount(between.map(_.fault.valid)))
  assert(!unitIdle || between.map(_.idle).reduce(_ && _), "an idle unit has accesses under way")
}
