package rackwright.drx

import scala.io.Source
import scala.util.Using

import chisel3._

/** The encoding of instructions, read from `isa.json`, which the model and the assembler read as well. */
object Isa {
  private val table: ujson.Value = {
    val stream = getClass.getResourceAsStream("/rackwright/drx/isa.json")
    require(stream != null, "rackwright/drx/isa.json is not on the class path")
    ujson.read(Using.resource(Source.fromInputStream(stream, "UTF-8"))(_.mkString))
  }

  /** Number of address calculators. */
  val calculators: Int = table("calculators").num.toInt

  /** Number of memory ranges of a program: the destination, then inputs. */
  val regions: Int = table("regions").num.toInt

  /** Strides, in elements, with which an operand's elements are accessed in one cycle as far as a line holds them; the
    * first is 1.
    */
  val strides: Seq[Int] = table("strides").arr.toSeq.map(_.num.toInt)

  /** The largest distance in bytes between such elements. */
  val strideBytes: Int = table("stride_bytes").num.toInt

  /** Size of an instruction in bits. */
  val wordBits: Int = table("word_bits").num.toInt

  /** The two fields that every instruction has. */
  val operation: Field = Field(table("operation"))
  val function: Field = Field(table("function"))

  private def named(rows: ujson.Value, name: String): ujson.Value =
    rows.arr.find(_("name").str == name).getOrElse(throw new NoSuchElementException(s"isa.json has no $name"))

  private def operationRow(name: String): ujson.Value = named(table("operations"), name)

  /** The code of an operation. */
  def operationCode(name: String): UInt = operationRow(name)("code").num.toInt.U(operation.bits.W)

  /** The functions of an operation. */
  def functions(operation: String): Seq[Function] = operationRow(operation)("functions").arr.toSeq.map { row =>
    Function(row("name").str, row("code").num.toInt, row.obj.get("sources").fold(0)(_.num.toInt))
  }

  /** The code of a function. */
  def functionCode(operation: String, name: String): UInt =
    functions(operation).find(_.name == name).get.code.U(function.bits.W)

  /** A field that all functions of an operation have. */
  def field(operation: String, name: String): Field = Field(named(operationRow(operation)("fields"), name))

  /** A field of one function. */
  def field(operation: String, function: String, name: String): Field =
    Field(named(named(operationRow(operation)("functions"), function)("fields"), name))

  /** Types of elements in memory. */
  val types: Seq[ElementType] = table("types").arr.toSeq.map { row =>
    ElementType(
      row("name").str,
      row("code").num.toInt,
      row("bytes").num.toInt,
      row("signed").bool,
      row.obj.get("float").exists(_.bool)
    )
  }

  /** The type with this name. */
  def typed(name: String): ElementType = types.find(_.name == name).get
}

/** A function of an operation: its code, and the number of operands that it reads. */
case class Function(name: String, code: Int, sources: Int)

/** An element type. One without bytes cannot be stored in the scratchpad. A `float` type is binary32, or bfloat16, its
  * upper half.
  */
case class ElementType(name: String, code: Int, bytes: Int, signed: Boolean, float: Boolean) {

  /** The limits of an integer type. */
  def least: BigInt = if (signed) -(BigInt(1) << (8 * bytes - 1)) else BigInt(0)
  def most: BigInt = (BigInt(1) << (8 * bytes - (if (signed) 1 else 0))) - 1
}

/** A field of an instruction. */
case class Field(low: Int, bits: Int, signed: Boolean) {

  /** The value of the field in `word`. */
  def of(word: UInt): UInt = word(low + bits - 1, low)
}

object Field {

  /** Reads a field from its row of the table. */
  def apply(row: ujson.Value): Field =
    Field(row("low").num.toInt, row("bits").num.toInt, row.obj.get("signed").exists(_.bool))
}
