package rackwright.unit

import rackwright.port.{Register, RegisterField, RegisterMap}

/** The registers of a unit in its manifest; empty for a unit that does not list them. */
object RegisterMapJson {

  /** The member of the port's entry. */
  def apply(map: RegisterMap): Seq[(String, ujson.Value)] =
    Option.when(map.registers.nonEmpty)("registers" -> ujson.Arr.from(map.registers.map(register))).toSeq

  private def register(register: Register): ujson.Value = {
    val several = if (register.count == 1) Seq.empty else Seq("count" -> register.count, "stride" -> register.stride)
    val fields = Option.when(register.fields.nonEmpty)("fields" -> ujson.Arr.from(register.fields.map(field)))
    val counter = Option.when(register.counter)("counter" -> ujson.True)
    ujson.Obj.from(
      Seq[(String, ujson.Value)]("name" -> register.name, "offset" -> register.offset, "access" -> register.access) ++
        several.map { case (key, number) => key -> ujson.Num(number) } ++ counter ++ said(register.meaning) ++ fields
    )
  }

  private def field(field: RegisterField): ujson.Value = ujson.Obj.from(
    Seq[(String, ujson.Value)]("name" -> field.name, "bit" -> field.first, "bits" -> field.bits) ++ said(field.meaning)
  )

  private def said(meaning: String): Option[(String, ujson.Value)] =
    Option.when(meaning.nonEmpty)("meaning" -> ujson.Str(meaning))
}
