package rackwright.elaborate

import java.nio.file.{Path, Paths}

import rackwright.adapter.Adapters
import rackwright.unit.{ParameterValues, UnitDescription, UsageError}

/** The request of a command line. */
sealed trait Arguments

/** The list of units as JSON. */
case object ListUnits extends Arguments

/** The elaboration of a unit.
  *
  * @param description
  *   the unit.
  * @param values
  *   its parameters, checked.
  * @param adapters
  *   the conversions of its ports.
  * @param assertions
  *   whether its assertions are part of the Verilog, for simulators.
  * @param out
  *   the directory for the Verilog and the manifest.
  */
case class Elaborate(
    description: UnitDescription,
    values: ParameterValues,
    adapters: Adapters,
    assertions: Boolean,
    out: Path
) extends Arguments

/** Elaborations requested on standard input, in one run of Java. */
case object Requests extends Arguments

/** Parses the command line; a [[UsageError]] for invalid arguments. */
object Arguments {
  val usage: String =
    "--list | --requests | (--unit NAME | --class CLASS | --foreign MANIFEST | --mover MANIFEST) [--set PARAMETER=VALUE]... [--command rocc|mmio|queue|packets|packets-mirrored] [--memory port|axi4] [--translation off|on] [--assertions off|on] --out DIRECTORY"

  /** The arguments of `Main`. */
  def parse(arguments: Seq[String]): Arguments = arguments match {
    case Seq("--list") => ListUnits
    case Seq("--requests") => Requests
    case _ => elaborate(options(arguments))
  }

  /** A line of the standard input: a JSON list of command lines, each a list of words. */
  def requests(line: String): Seq[Elaborate] = {
    val lines =
      try ujson.read(line).arr.map(_.arr.map(_.str).toSeq).toSeq
      catch {
        case _: ujson.ParsingFailedException | _: ujson.Value.InvalidData =>
          throw UsageError(s"$line is not a JSON list of lists of words; usage: $usage")
      }
    lines.map(words => elaborate(options(words)))
  }

  private val known =
    Seq(
      "--unit",
      "--class",
      "--foreign",
      "--mover",
      "--set",
      "--command",
      "--memory",
      "--translation",
      "--assertions",
      "--out"
    )

  private def options(arguments: Seq[String]): Seq[(String, String)] = arguments
    .grouped(2)
    .map {
      case Seq(option, value) if known.contains(option) => option -> value
      case Seq(option) if known.contains(option) => throw UsageError(s"$option needs a value; usage: $usage")
      case other => throw UsageError(s"${other.head} is not an option; usage: $usage")
    }
    .toSeq

  private def elaborate(options: Seq[(String, String)]): Elaborate = {
    def all(name: String): Seq[String] = options.collect { case (`name`, value) => value }
    def one(name: String): Option[String] = all(name) match {
      case Seq() => None
      case Seq(value) => Some(value)
      case _ => throw UsageError(s"$name is given more than once")
    }
    val described = Seq[(String, String => UnitDescription)](
      "--unit" -> Units.named,
      "--class" -> Units.ofClass,
      "--foreign" -> (manifest => Units.ofManifest(Paths.get(manifest))),
      "--mover" -> (manifest => Units.moverOf(Paths.get(manifest)))
    ).flatMap { case (option, describe) => one(option).map(describe) }
    val description = described match {
      case Seq(only) => only
      case _ => throw UsageError(s"one of --unit, --class, --foreign and --mover says what to elaborate; usage: $usage")
    }
    val out = one("--out").getOrElse(throw UsageError(s"--out says where the Verilog goes; usage: $usage"))
    val adapters = Adapters(
      mmio = one("--command").contains("mmio"),
      axi4 = word("--memory", one("--memory"), "port", "axi4"),
      translated = word("--translation", one("--translation"), "off", "on"),
      queued = command(one("--command")).contains("queue"),
      packets = one("--command").exists(_.startsWith("packets")),
      mirror = one("--command").contains("packets-mirrored")
    )
    val values = ParameterValues(description.parameters, settings(all("--set")))
    val assertions = word("--assertions", one("--assertions"), "off", "on")
    Elaborate(description, values, adapters, assertions, Paths.get(out))
  }

  /** The conversion for commands, if it is a supported one. */
  private def command(value: Option[String]): Option[String] = value.map { way =>
    if (!commands.contains(way)) throw UsageError(s"--command: $way is not allowed; one of ${commands.mkString(", ")}")
    way
  }

  private val commands = Seq("rocc", "mmio", "queue", "packets", "packets-mirrored")

  /** Whether the option has its second value; the first is the default. */
  private def word(option: String, value: Option[String], plain: String, adapted: String): Boolean = value match {
    case None | Some(`plain`) => false
    case Some(`adapted`) => true
    case Some(other) => throw UsageError(s"$option: $other is not allowed; one of $plain, $adapted")
  }

  private def settings(texts: Seq[String]): Map[String, String] = texts.map { text =>
    text.split("=", 2) match {
      case Array(name, value) => name -> value
      case _ => throw UsageError(s"--set: $text is not PARAMETER=VALUE")
    }
  }.toMap
}
