package rackwright.foreign

import chisel3._

import rackwright.port.{CommandPort, MemoryPort}
import rackwright.unit.{CommandDescription, EventDescription, InterruptDescription, MemoryDescription}

/** The top module of a user's unit, of which only the pins are known here, from its manifest. */
class ForeignBox(manifest: ForeignManifest) extends ExtModule(ForeignBox.parameters(manifest)) {
  override def desiredName: String = manifest.top

  val clock = pin(Input(Clock()), manifest.clock)
  val reset = manifest.reset.map(pin(Input(Bool()), _))
  val idle = pin(Output(Bool()), manifest.idle)

  /** The hardware of each port, in the order of the manifest. */
  val ports: Seq[Data] = manifest.ports.map {
    case CommandDescription(name, _, _, _) => pin(new CommandPort, name)
    case MemoryDescription(name, shape, _) => pin(new MemoryPort(shape), name)
    case InterruptDescription(name) => pin(Output(Bool()), s"interrupt_$name")
    case EventDescription(name, width) => pin(Output(UInt(width.W)), s"event_$name")
    case other => throw new IllegalArgumentException(s"port ${other.name} is of no contract that a box has")
  }

  private def pin[T <: Data](kind: => T, name: String): T = IO(kind).suggestName(name)
}

object ForeignBox {

  /** Values in Verilog: a literal like 8'hff is unchanged, other words are strings. */
  private def parameters(manifest: ForeignManifest): Map[String, Param] = manifest.parameters.map {
    case (name, ujson.Str(literal)) if literal.matches("\\d*'s?[bodhBODH][0-9a-fA-FxzXZ_]+") =>
      name -> RawParam(literal)
    case (name, ujson.Str(text)) => name -> StringParam(text)
    case (name, value) => name -> IntParam(BigDecimal(value.num).toBigInt)
  }
}
