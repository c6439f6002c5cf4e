package rackwright.operation

import scala.collection.immutable.SeqMap

import chisel3._

import rackwright.port.{SettingBits, Status, UnitCommand}
import rackwright.stream.StreamRange

/** A setting of a unit that software may change at run time; it stays until changed again.
  *
  * @param name
  *   its name in the unit.
  * @param funct
  *   number of the command that sets it to rs1, one of `StreamCommands.settings`.
  * @param width
  *   bits kept. A value that needs more is stored as all ones: choose a width in which all ones is out of range.
  * @param default
  *   the value after reset.
  * @param meaning
  *   its meaning, for authors of software.
  */
case class Setting(name: String, funct: Int, width: Int, default: BigInt, meaning: String) {
  require(
    StreamCommands.settings.contains(funct),
    s"setting $name: functs of settings are ${StreamCommands.settings}, not $funct"
  )
  require(width >= 1 && width <= 64, s"setting $name: a setting has 1 to 64 bits, not $width")
  require(default.bitLength <= width, s"setting $name: $default needs more than $width bits")

  /** The command that changes it. */
  def command: UnitCommand = UnitCommand(name, funct, meaning, setting = Some(SettingBits(width, default)))
}

/** A started operation: its source, its destination, and the settings at the time of its start. */
class Operation(params: Seq[Setting]) extends Bundle {

  /** What to read. */
  val source = new StreamRange

  /** Where to write. */
  val destination = UInt(64.W)

  /** Bytes that may be written at `destination`; without a limit, all up to the end of the address space. */
  val capacity = UInt(64.W)

  /** Whether software set the capacity. */
  val limited = Bool()

  /** Runtime settings at the time of the start. */
  val settings = new SettingValues(params)

  /** The setting with that name. */
  def setting(name: String): UInt = settings.elements(name)
}

/** The values of a unit's settings, by name. */
class SettingValues(params: Seq[Setting]) extends Record {
  val elements = SeqMap.from(params.map(p => p.name -> UInt(p.width.W)))
}

/** More input for the operation that was started last, after its present input. */
class InputExtension extends Bundle {
  val bytes = UInt(64.W)

  /** Nothing follows. */
  val last = Bool()
}

/** The result of an operation. */
class OperationResult extends Bundle {

  /** One of [[Status]]. */
  val status = UInt(Status.width.W)

  /** Bytes written to the destination. */
  val outputBytes = UInt(64.W)

  /** Bytes of the source consumed, or the position of an error. */
  val inputOffset = UInt(64.W)
}
