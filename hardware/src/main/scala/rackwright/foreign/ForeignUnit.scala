package rackwright.foreign

import chisel3._

import rackwright.port.{CommandPort, MemoryPort}
import rackwright.unit._

/** A user's unit in Verilog as a unit of Chisel, so that the same adapters apply to it. */
class ForeignUnit(manifest: ForeignManifest) extends HardwareUnit {
  override def hertz: Long = manifest.hertz
  override def attach: Seq[Attach] = manifest.attach
  override def desiredName: String = s"${manifest.top}Wrapped"

  private val box = Module(new ForeignBox(manifest))
  box.clock := clock
  box.reset.foreach(_ := (if (manifest.resetsLow) !reset.asBool else reset.asBool))

  manifest.ports.zip(box.ports).foreach {
    case (CommandDescription(name, opcodes, commands, _), inner: CommandPort) =>
      commandPort(commands, opcodes: _*).suggestName(name) <> inner
    case (MemoryDescription(name, shape, intermediate), inner: MemoryPort) =>
      memoryPort(shape, intermediate).suggestName(name) <> inner
    case (InterruptDescription(name), inner: Bool) => interruptPort(name) := inner
    case (EventDescription(name, _), inner: UInt) => event(name, inner)
    case (other, _) => throw new IllegalArgumentException(s"port ${other.name} is of no contract that a box has")
  }
  idlePort().suggestName("idle") := box.idle
}
