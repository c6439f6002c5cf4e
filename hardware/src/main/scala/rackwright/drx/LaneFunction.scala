package rackwright.drx

import chisel3._
import chisel3.util._

/** What one lane makes of two numbers of 32 bits in its first stage: all but products, and sums of binary32. */
object LaneFunction {
  private def code(name: String): UInt = Isa.functionCode("compute", name)

  /** The function is one of these. */
  def isOneOf(function: UInt, names: String*): Bool = names.map(function === code(_)).reduce(_ || _)

  /** The result of `function`, any of a product, and whether it is written; with `float`, numbers are of binary32. */
  def apply(function: UInt, first: UInt, second: UInt, float: Bool): (UInt, Bool) = {
    val (less, equal, nan) = compare(first, second, float)
    // Numbers are shifted by all their bits, and by no less, where the distance is larger or negative.
    val far = second(31, 5).orR
    val sign = Fill(32, first(31))
    val unordered = float && nan
    val zeros = float && !first(30, 0).orR && !second(30, 0).orR
    val results = Map(
      "move" -> first,
      "add" -> (first + second),
      "subtract" -> (first - second),
      "multiply" -> first,
      "minimum" -> Mux(unordered, FloatNumber.nan, Mux(less, first, second)),
      "maximum" -> Mux(unordered, FloatNumber.nan, Mux(less, second, first)),
      "and" -> (first & second),
      "or" -> (first | second),
      "xor" -> (first ^ second),
      "shift_left" -> Mux(far, 0.U, (first << second(4, 0))(31, 0)),
      "shift_right" -> Mux(far, sign, (first.asSInt >> second(4, 0)).asUInt),
      "saturate" -> first,
      "less" -> Cat(0.U(31.W), less && !unordered && !zeros),
      "equal" -> Cat(0.U(31.W), (equal && !unordered) || zeros),
      "select" -> second,
      "multiply_add" -> first
    )
    val known = Isa.functions("compute").map(_.name)
    require(known.toSet == results.keySet, s"isa.json has ${known.mkString(", ")}, not ${results.keys.mkString(", ")}")
    val value = MuxLookup(function, 0.U)(known.map(name => code(name) -> results(name)))
    (value, function =/= code("select") || first =/= 0.U)
  }

  /** Whether the first number is less, with -0 below 0; whether both are the same; whether one is none. */
  private def compare(first: UInt, second: UInt, float: Bool): (Bool, Bool, Bool) = {
    // Numbers of which the bits are compared as those of whole numbers without sign.
    def ordered(number: UInt): UInt = Cat(!number(31), number(30, 0) ^ Fill(31, float && number(31)))
    val nan = new FloatNumber(first).nan || new FloatNumber(second).nan
    (ordered(first) < ordered(second), first === second, nan)
  }

  /** It reads two operands. */
  def isBinary(function: UInt): Bool =
    VecInit(Isa.functions("compute").filter(_.sources >= 2).map(_.code.U === function)).asUInt.orR

  /** It reads its destination as well. */
  def isTernary(function: UInt): Bool =
    VecInit(Isa.functions("compute").filter(_.sources == 3).map(_.code.U === function)).asUInt.orR
}
