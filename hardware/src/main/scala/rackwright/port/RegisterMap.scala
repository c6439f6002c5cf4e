package rackwright.port

import scala.io.Source
import scala.util.Using

import chisel3._
import chisel3.util.Cat

/** Bits of a register: `bits` of them from bit `first` on. */
case class RegisterField(name: String, first: Int, bits: Int, meaning: String) {

  /** Its value in data written to the register. */
  def of(data: UInt): UInt = data(first + bits - 1, first)
}

/** A register of 64 bits, or `count` of them, `stride` bytes from one to the next.
  *
  * @param offset
  *   in bytes within the page.
  * @param access
  *   "read", "write" or "read-write".
  * @param counter
  *   whether it counts; such a register is an event too.
  */
case class Register(
    name: String,
    offset: Int,
    access: String,
    meaning: String,
    fields: Seq[RegisterField],
    counter: Boolean = false,
    count: Int = 1,
    stride: Int = 8
) {

  require(name.matches("[a-z][a-z0-9_]*"), s"a register's name is lower case with underscores, not '$name'")

  /** The field with that name. */
  def apply(field: String): RegisterField =
    fields.find(_.name == field).getOrElse(throw new NoSuchElementException(s"register $name has no field $field"))

  /** All bits of written data that belong to a field. */
  def of(data: UInt): UInt = data(fields.map(field => field.first + field.bits).max - 1, 0)

  /** The offset of each of them. */
  def offsets: Seq[Int] = (0 until count).map(offset + stride * _)

  /** The result of a read with these values of fields; bits outside of fields are 0. */
  def word(values: (String, UInt)*): UInt = {
    val placed = values.map { case (field, value) => (apply(field), value) }.sortBy(_._1.first)
    val (parts, _) = placed.foldLeft((Seq.empty[UInt], 0)) { case ((below, next), (field, value)) =>
      val gap = Option.when(field.first > next)(0.U((field.first - next).W))
      ((value.pad(field.bits) +: gap.toSeq) ++ below, field.first + field.bits)
    }
    Cat(parts)
  }
}

/** The registers of a unit, from which decoders, manifests, headers and constants are generated. */
case class RegisterMap(registers: Seq[Register] = Seq.empty) {

  /** The register with that name. */
  def apply(name: String): Register =
    registers.find(_.name == name).getOrElse(throw new NoSuchElementException(s"there is no register $name"))

  /** The counters, in the order of their offsets. */
  def counters: Seq[Register] = registers.filter(_.counter)

  /** The same with `count` registers in place of those with that name. */
  def sized(name: String, count: Int): RegisterMap =
    RegisterMap(registers.map(register => if (register.name == name) register.copy(count = count) else register))

  /** These registers and those of `other`. */
  def and(other: RegisterMap): RegisterMap = RegisterMap(registers ++ other.registers)

  require(registers.map(_.name).distinct.size == registers.size, "two registers share a name")
  private val places = registers.flatMap(register => register.offsets.map(_ -> register.name))
  places.groupBy(_._1).foreach { case (offset, there) =>
    require(there.size == 1, s"registers ${there.map(_._2).mkString(" and ")} are both at $offset")
    require(offset % 8 == 0 && offset < 4096, s"register ${there.head._2} is at $offset, not a word of a page")
  }
}

object RegisterMap {

  /** The map of a package, in its `registers.json`, which engine and software read as well. */
  def read(folder: String): RegisterMap = {
    val path = s"/rackwright/$folder/registers.json"
    val stream = getClass.getResourceAsStream(path)
    require(stream != null, s"$path is not on the class path")
    val table = ujson.read(Using.resource(Source.fromInputStream(stream, "UTF-8"))(_.mkString))
    RegisterMap(table("registers").arr.toSeq.map(register))
  }

  private def register(row: ujson.Value): Register = {
    def number(key: String, otherwise: Int): Int = row.obj.get(key).fold(otherwise)(_.num.toInt)
    Register(
      row("name").str,
      row("offset").num.toInt,
      row("access").str,
      meaning(row),
      row.obj.get("fields").toSeq.flatMap(_.arr).map { field =>
        RegisterField(field("name").str, field("bit").num.toInt, field("bits").num.toInt, meaning(field))
      },
      row.obj.get("counter").exists(_.bool),
      number("count", 1),
      number("stride", 8)
    )
  }

  private def meaning(row: ujson.Value): String = row.obj.get("meaning").fold("")(_.str)
}
