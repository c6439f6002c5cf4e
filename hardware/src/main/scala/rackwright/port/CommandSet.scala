package rackwright.port

import scala.collection.mutable

/** A command that a unit understands.
  *
  * @param name
  *   lower case with underscores; constants of software are named after it.
  * @param funct
  *   its number, 0 to 127.
  * @param rs1
  *   the meaning of the first operand, and `rs2` that of the second; empty if it has none.
  * @param answer
  *   the value returned in `rd`, empty for none.
  * @param setting
  *   for a command that changes a setting: its bits and its value at reset.
  */
case class UnitCommand(
    name: String,
    funct: Int,
    rs1: String = "",
    rs2: String = "",
    answer: String = "",
    setting: Option[SettingBits] = None
) {
  require(name.matches("[a-z][a-z0-9_]*"), s"a command's name is lower case with underscores, not '$name'")
  require(funct >= 0 && funct <= 127, s"command $name: a funct is 0 to 127, not $funct")
}

/** The width of a setting, and its value at reset. */
case class SettingBits(bits: Int, default: BigInt)

/** A part of the record that an operation ends with: `bits` bits from bit `first` on. */
case class RecordField(name: String, first: Int, bits: Int, meaning: String)

/** The interface of a unit for software, from which headers and constants are generated.
  *
  * @param commands
  *   the commands; none for a unit that does not list them, and responds to all numbers of its opcodes.
  * @param record
  *   the record of an operation's end, from its first byte on; empty without one.
  */
case class CommandSet(commands: Seq[UnitCommand] = Seq.empty, record: Seq[RecordField] = Seq.empty) {
  require(commands.map(_.funct).distinct.size == commands.size, "two commands share a funct")
  require(commands.map(_.name).distinct.size == commands.size, "two commands share a name")

  /** The same with one more command, if the commands are listed. */
  def and(command: UnitCommand): CommandSet =
    if (commands.isEmpty) this else copy(commands = commands :+ command)
}

/** Commands that are declared one after the other, each a member of an object that extends this. */
abstract class CommandList {
  private val declared = mutable.ArrayBuffer.empty[UnitCommand]

  /** Adds one; the arguments are those of [[UnitCommand]]. */
  protected def command(
      name: String,
      funct: Int,
      rs1: String = "",
      rs2: String = "",
      answer: String = ""
  ): UnitCommand = {
    declared += UnitCommand(name, funct, rs1, rs2, answer)
    declared.last
  }

  /** All of them, in the order of their declaration. */
  def commands: Seq[UnitCommand] = declared.toSeq
}
