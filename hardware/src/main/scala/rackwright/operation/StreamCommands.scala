package rackwright.operation

import rackwright.port.{CommandList, CommandSet, RecordField, UnitCommand}

/** The commands that every streaming unit understands.
  *
  * 0 to 3 are those of the public compression units (Karandikar 2024, chapter 7, and its published RTL); 4 to 15 are
  * reserved for the settings of a unit, 16 and above are ours.
  */
object StreamCommands extends CommandList {
  val fence: UnitCommand = command("sfence", 0)
  val source: UnitCommand = command("src", 1, "address of the input", "its bytes")
  val destinationAndStart: UnitCommand =
    command("dest_and_start", 2, "address of the output", "address of a flag of 8 bytes, or 0")
  val checkCompletion: UnitCommand =
    command("check_completion", 3, answer = "operations completed since reset, when all that were started have")
  val settings: Range = 4 to 15
  val limit: UnitCommand =
    command("limit", 16, "capacity of the next output", "address of its completion record, or 0")
  val status: UnitCommand = command("status", 17, answer = "status of the operation completed last")
  val outputBytes: UnitCommand = command("output_bytes", 18, answer = "bytes that it wrote")
  val inputOffset: UnitCommand =
    command("input_offset", 19, answer = "bytes that it consumed, or where its input is wrong")
  val version: UnitCommand = command("version", 20, answer = "1")
  val extend: UnitCommand = command("extend", 21, "bytes more of the input", "1 where none follow")
  val written: UnitCommand = command("written", 22, answer = "bytes of the output that memory has")

  /** What `version` answers. */
  val currentVersion: Int = 1

  /** Only for units whose input may arrive in pieces. */
  private val streamed = Seq(extend, written)

  /** What `CompletionWriter` writes. */
  private val record = Seq(
    RecordField("ended", 0, 8, "1 + status; 0 before"),
    RecordField("output_bytes", 8, 56, "bytes written"),
    RecordField("input_offset", 64, 64, "bytes consumed, or where the input is wrong")
  )

  /** The commands of a unit with `settings`, in the order of their numbers; `streaming` as in [[CommandRouter]]. */
  def of(settings: Seq[Setting], streaming: Boolean = false): CommandSet = {
    val known = if (streaming) commands else commands.diff(streamed)
    CommandSet((known ++ settings.map(_.command)).sortBy(_.funct), record)
  }
}
