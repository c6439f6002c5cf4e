package rackwright.unit

import rackwright.port.{Axi4Params, CommandSet, MemoryPortParams, RegisterMap}

/** One port of a unit as the manifest names it. The names of its pins derive from `name`. */
sealed trait PortDescription {
  def name: String
}

/** RoCC commands with one of `opcodes`; each with the context for the translation of its addresses, if `translated`. */
case class CommandDescription(name: String, opcodes: Seq[Int], commands: CommandSet, translated: Boolean = false)
    extends PortDescription

/** A decoupled memory port; `intermediate` if it reads back data that the unit itself has written. */
case class MemoryDescription(name: String, params: MemoryPortParams, intermediate: Boolean) extends PortDescription

/** Registers that the core reads and writes; `opcodes` are those of the `commands` behind them, if any. */
case class MmioDescription(name: String, registers: RegisterMap, opcodes: Seq[Int], commands: CommandSet)
    extends PortDescription

/** An AXI4 master; `intermediate` as of a memory port. */
case class Axi4Description(name: String, params: Axi4Params, intermediate: Boolean) extends PortDescription

/** Frames, `bytes` per beat; `outward` seen from the unit. */
case class StreamDescription(name: String, outward: Boolean, bytes: Int) extends PortDescription

/** An interrupt line, high while it is active; the pin is `interrupt_<name>`. */
case class InterruptDescription(name: String) extends PortDescription

/** The output that allows the clock to stop. */
case class IdleDescription(name: String) extends PortDescription

/** A named event; the pin is `event_<name>`, `width` bits. */
case class EventDescription(name: String, width: Int) extends PortDescription
