package rackwright.drx

import chisel3._
import chisel3.util._

/** The first stage of a lane: all functions of two 32-bit numbers except products and binary32 additions. */
object LaneFunction {
  private def code(name: String): UInt = Isa.functionCode("compute", name)

  /** The function is one of these. */
  def isOneOf(function: UInt, names: String*): Bool = names.map(function === code(_)).reduce(_ || _)

  /** The result of `function` (undefined for a product), and whether it is written; with `float`, numbers are binary32.
    */
  def apply(function: UInt, first: UInt, second: UInt, float: Bool): (UInt, Bool) = {
    val (less, equal, nan) = compare(first, second, float)
    // A shift by 32 or more, or by a negative distance, shifts out all bits.
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

  /** Whether the first number is less, with -0 below 0; whether both are equal; whether either is NaN. */
  private def compare(first: UInt, second: UInt, float: Bool): (Bool, Bool, Bool) = {
    // Maps numbers to unsigned integers with the same order.
    def ordered(number: UInt): UInt = Cat(!number(31), number(30, 0) ^ Fill(31, float && number(31)))
    val nan = new FloatNumber(first).nan || new FloatNumber(second).nan
    (ordered(first) < ordered(second), first === second, nan)
  }

  /** The function reads two operands. */
  def isBinary(function: UInt): Bool =
    VecInit(Isa.functions("compute").filter(_.sources >= 2).map(_.code.U === function)).asUInt.orR

  /** The function also reads its destination. */
  def isTernary(function: UInt): Bool =
    VecInit(Isa.functions("compute").filter(_.sources == 3).map(_.code.U === function)).asUInt.orR
}
