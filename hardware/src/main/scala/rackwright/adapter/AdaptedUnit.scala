package rackwright.adapter

import scala.collection.mutable

import chisel3._
import chisel3.util.DecoupledIO

import rackwright.port.{CommandPort, CommandSet, MemoryPort, MmioPort}
import rackwright.unit._

/** A unit within adapters: registers instead of RoCC commands, AXI4 masters instead of memory ports, or both.
  *
  * All ports keep their names, except for commands through registers: that port is `mmio`.
  */
class AdaptedUnit(build: => HardwareUnit, mmio: Boolean, axi4: Boolean) extends HardwareUnit {
  private val unit = Module(build)
  private val adaptersIdle = Wire(Bool())
  private val idles = mutable.ArrayBuffer.empty[Bool]

  override def hertz: Long = unit.hertz

  override def attach: Seq[Attach] = unit.attach

  override def desiredName: String =
    unit.desiredName + (if (mmio) "Mmio" else "") + (if (axi4) "Axi4" else "")

  unit.madePorts.foreach {
    case (inner: CommandPort, CommandDescription(_, opcodes, commands, false)) => command(inner, opcodes, commands)
    case (inner: MemoryPort, description: MemoryDescription) => memory(inner, description)
    case (inner: MmioPort, MmioDescription(name, registers, opcodes, commands)) =>
      queuePort(registers, commands, opcodes: _*).suggestName(name) <> inner
    case (inner: DecoupledIO[_], StreamDescription(name, outward, bytes)) =>
      (if (outward) streamOutput(bytes) else streamInput(bytes)).suggestName(name) <> inner
    case (inner: Bool, InterruptDescription(name)) => interruptPort(name) := inner
    case (inner: Bool, IdleDescription(name)) => idlePort().suggestName(name) := inner && adaptersIdle
    case (inner: UInt, EventDescription(name, _)) => event(name, inner)
    case (_, other) => throw new IllegalArgumentException(s"port ${other.name} can't be adapted")
  }
  adaptersIdle := idles.foldLeft(true.B)(_ && _)

  private def command(inner: CommandPort, opcodes: Seq[Int], commands: CommandSet): Unit = if (mmio) {
    val queue = Module(new CommandQueue)
    queuePort(CommandQueue.registers, commands, opcodes: _*).suggestName("mmio") <> queue.mmio
    inner <> queue.command
    idles += queue.idle
  } else commandPort(commands, opcodes: _*).suggestName("command") <> inner

  private def memory(inner: MemoryPort, description: MemoryDescription): Unit = {
    val MemoryDescription(name, params, intermediate) = description
    if (axi4) {
      val adapter = Module(new Axi4Adapter(params))
      adapter.memory <> inner
      idles += adapter.idle
      axi4Port(Axi4Adapter.params(params), intermediate).suggestName(name) <> adapter.axi
    } else memoryPort(params, intermediate).suggestName(name) <> inner
  }
}
