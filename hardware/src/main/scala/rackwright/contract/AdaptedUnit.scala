package rackwright.contract

import chisel3._

import rackwright.memory.{Axi4Adapter, MemoryPort, MemoryPortParams}
import rackwright.rocc.{CommandPort, CommandQueue}

/** A unit within adapters: registers instead of RoCC commands, AXI4 masters instead of memory ports, or both.
  *
  * Every port keeps its name, but for commands that come through registers: that port is `mmio`.
  */
class AdaptedUnit(build: => HardwareUnit, mmio: Boolean, axi4: Boolean) extends HardwareUnit {
  private val unit = Module(build)
  private val queueIdle = WireDefault(true.B)

  override def desiredName: String =
    unit.desiredName + (if (mmio) "Mmio" else "") + (if (axi4) "Axi4" else "")

  unit.madePorts.foreach {
    case (inner: CommandPort, CommandDescription(_, opcodes)) => command(inner, opcodes)
    case (inner: MemoryPort, MemoryDescription(name, params)) => memory(inner, name, params)
    case (inner: Bool, IdleDescription(name)) => idlePort().suggestName(name) := inner && queueIdle
    case (inner: UInt, EventDescription(name, _)) => event(name, inner)
    case (_, other) => throw new IllegalArgumentException(s"port ${other.name} can't be adapted")
  }

  private def command(inner: CommandPort, opcodes: Seq[Int]): Unit = if (mmio) {
    val queue = Module(new CommandQueue)
    mmioPort().suggestName("mmio") <> queue.mmio
    inner <> queue.command
    queueIdle := queue.idle
  } else commandPort(opcodes: _*).suggestName("command") <> inner

  private def memory(inner: MemoryPort, name: String, params: MemoryPortParams): Unit = if (axi4) {
    val adapter = Module(new Axi4Adapter(params))
    adapter.memory <> inner
    axi4Port(Axi4Adapter.params(params)).suggestName(name) <> adapter.axi
  } else memoryPort(params).suggestName(name) <> inner
}
