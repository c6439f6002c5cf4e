package rackwright.unit

import rackwright.port.{CommandSet, RecordField, Status, UnitCommand}

/** The commands of a unit in its manifest; empty for a unit that does not list them. */
object CommandSetJson {

  /** The members of the port's entry: `commands`, and, if operations end with a record, `record` and `statuses`. */
  def apply(set: CommandSet): Seq[(String, ujson.Value)] =
    if (set.commands.isEmpty) Seq.empty
    else ("commands" -> ujson.Arr.from(set.commands.map(command))) +: recordOf(set)

  private def command(command: UnitCommand): ujson.Value = {
    val operands = Seq("rs1" -> command.rs1, "rs2" -> command.rs2, "answer" -> command.answer)
    val said = operands.collect { case (name, text) if text.nonEmpty => name -> ujson.Str(text) }
    val setting = command.setting.map { setting =>
      "setting" -> ujson.Obj("bits" -> setting.bits, "default" -> ujson.Num(setting.default.toDouble))
    }
    ujson.Obj.from(Seq[(String, ujson.Value)]("name" -> command.name, "funct" -> command.funct) ++ said ++ setting)
  }

  private def recordOf(set: CommandSet): Seq[(String, ujson.Value)] =
    if (set.record.isEmpty) Seq.empty
    else Seq("record" -> ujson.Arr.from(set.record.map(field)), "statuses" -> ujson.Arr.from(Status.names))

  private def field(field: RecordField): ujson.Value =
    ujson.Obj("name" -> field.name, "bit" -> field.first, "bits" -> field.bits, "meaning" -> field.meaning)
}
