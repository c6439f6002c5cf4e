package rackwright.unit

import java.security.MessageDigest

/** Writes the description of a design for the engine (contract 3): the interface between elaboration and engine. */
object Manifest {

  /** The manifest of `design`.
    *
    * @param unit
    *   name of the unit.
    * @param design
    *   the top module, elaborated.
    * @param verilog
    *   file name and text of each file.
    */
  def apply(unit: String, design: HardwareUnit, verilog: Seq[(String, String)], parameters: ujson.Value): ujson.Value =
    ujson.Obj(
      "format" -> 2,
      "unit" -> unit,
      "design" -> design.name,
      "top" -> design.name,
      "verilog" -> verilog.map(_._1),
      "hash" -> hash(verilog.map(_._2)),
      "clocks" -> ujson.Arr(
        ujson.Obj("pin" -> "clock", "reset" -> "reset", "hertz" -> ujson.Num(design.hertz.toDouble))
      ),
      "attach" -> attach(design),
      "idle" -> idlePin(design),
      "ports" -> ports(design),
      "parameters" -> parameters
    )

  /** The ports of `design`, without its clock, reset and idle pins. */
  def ports(design: HardwareUnit): ujson.Value = design.ports.flatMap(describe)

  /** The places where `design` may be attached. */
  def attach(design: HardwareUnit): ujson.Value = ujson.Arr.from(design.attach.map(_.name))

  private def idlePin(design: HardwareUnit): String = design.ports
    .collectFirst { case IdleDescription(name) => name }
    .getOrElse(throw UsageError(s"${design.name} has no idle port"))

  private def describe(port: PortDescription): Option[ujson.Obj] = port match {
    case CommandDescription(name, opcodes, commands, translated) =>
      val virtual = if (translated) Seq("translated" -> ujson.True) else Seq.empty
      Some(entry("command", name, ("opcodes" -> ujson.Arr.from(opcodes)) +: virtual ++: CommandSetJson(commands): _*))
    case MemoryDescription(name, p, intermediate) =>
      val watch = if (p.watch) Seq("watch" -> ujson.True) else Seq.empty
      val shape =
        Seq[(String, ujson.Value)]("bytes" -> p.bytes, "tag_bits" -> p.tagBits, "address_bits" -> p.addressBits)
      Some(entry("memory", name, shape ++ watch ++ traffic(intermediate): _*))
    case MmioDescription(name, registers, opcodes, commands) =>
      val said = RegisterMapJson(registers) ++ CommandSetJson(commands)
      Some(entry("mmio", name, ("opcodes" -> ujson.Arr.from(opcodes)) +: said: _*))
    case Axi4Description(name, p, intermediate) =>
      val shape =
        Seq[(String, ujson.Value)]("bytes" -> p.bytes, "id_bits" -> p.idBits, "address_bits" -> p.addressBits)
      Some(entry("axi4", name, shape ++ traffic(intermediate): _*))
    case StreamDescription(name, outward, bytes) =>
      Some(entry("stream", name, "direction" -> (if (outward) "out" else "in"), "bytes" -> bytes))
    case InterruptDescription(name) => Some(entry("interrupt", name))
    case EventDescription(name, width) => Some(entry("event", name, "width" -> width))
    case IdleDescription(_) => None
  }

  private def traffic(intermediate: Boolean): Option[(String, ujson.Value)] =
    Option.when(intermediate)("traffic" -> "intermediate")

  private def entry(contract: String, name: String, more: (String, ujson.Value)*): ujson.Obj =
    ujson.Obj.from(Seq[(String, ujson.Value)]("contract" -> contract, "name" -> name) ++ more)

  private def hash(files: Seq[String]): String = {
    val digest = MessageDigest.getInstance("SHA-256")
    files.foreach(file => digest.update(file.getBytes("UTF-8")))
    digest.digest().map(byte => f"$byte%02x").mkString
  }
}
