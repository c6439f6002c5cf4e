package rackwright.foreign

import rackwright.port.{CommandSet, MemoryPortParams, UnitCommand}
import rackwright.unit.{
  Attach,
  CommandDescription,
  EventDescription,
  InterruptDescription,
  MemoryDescription,
  PortDescription,
  UsageError
}

/** The manifest of a user's unit, as far as a wrapper needs it. */
class ForeignManifest(json: ujson.Value) {

  /** The name of the unit. */
  val unit: String = json("unit").str

  /** Its top module. */
  val top: String = json("top").str

  private val first = json("clocks")(0)

  /** The clock input. */
  val clock: String = first("pin").str

  /** The reset input, if there is one. */
  val reset: Option[String] = first("reset").strOpt

  /** Whether the reset input resets while it is 0. */
  val resetsLow: Boolean = first.obj.get("active").exists(_.str == "low")

  /** Cycles per second of its clock. */
  val hertz: Long = first("hertz").num.toLong

  /** The places where it may be attached. */
  val attach: Seq[Attach] = json("attach").arr.toSeq.map(place => Attach.named(place.str))

  /** The output that is high while nothing is in progress. */
  val idle: String = json.obj
    .get("idle")
    .flatMap(_.strOpt)
    .getOrElse(throw UsageError(s"unit $unit has no idle output, which says when another process may have it"))

  /** Its ports, in their order. */
  val ports: Seq[PortDescription] = json("ports").arr.toSeq.map(port)

  /** Parameters for its top module. */
  val parameters: Map[String, ujson.Value] = json("parameters").obj.toMap

  private def port(entry: ujson.Value): PortDescription = {
    val name = entry("name").str
    def number(key: String, default: Int): Int = entry.obj.get(key).map(_.num.toInt).getOrElse(default)
    entry("contract").str match {
      case "command" =>
        CommandDescription(name, entry("opcodes").arr.toSeq.map(_.num.toInt), commands(entry))
      case "memory" if entry.obj.get("watch").exists(_.bool) =>
        throw UsageError(s"unit $unit: port $name, which watches, can't be given virtual addresses")
      case "memory" =>
        val shape = MemoryPortParams(number("bytes", 0), number("tag_bits", 0), number("address_bits", 64))
        MemoryDescription(name, shape, entry.obj.get("traffic").exists(_.str == "intermediate"))
      case "interrupt" => InterruptDescription(name)
      case "event" => EventDescription(name, number("width", 1))
      case other => throw UsageError(s"unit $unit: a port of the contract $other can't be given virtual addresses")
    }
  }

  private def commands(entry: ujson.Value): CommandSet = CommandSet(
    entry.obj.get("commands").toSeq.flatMap(_.arr).map { command =>
      def text(key: String): String = command.obj.get(key).map(_.str).getOrElse("")
      UnitCommand(text("name"), command("funct").num.toInt, text("rs1"), text("rs2"), text("answer"))
    }
  )
}
