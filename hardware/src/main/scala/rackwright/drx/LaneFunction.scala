package rackwright.drx

import chisel3._
import chisel3.util._

/** What one lane makes of two numbers of 32 bits. */
object LaneFunction {

  /** The result of `function`, and whether it is written; the type of the result matters to `saturate` alone. */
  def apply(function: UInt, first: UInt, second: UInt, elementType: UInt): (UInt, Bool) = {
    def code(name: String): UInt = Isa.functionCode("compute", name)
    val less = first.asSInt < second.asSInt
    // Numbers are shifted by all their bits, and by no less, where the distance is larger or negative.
    val far = second(31, 5).orR
    val sign = Fill(32, first(31))
    val results = Map(
      "move" -> first,
      "add" -> (first + second),
      "subtract" -> (first - second),
      "multiply" -> (first * second)(31, 0),
      "minimum" -> Mux(less, first, second),
      "maximum" -> Mux(less, second, first),
      "and" -> (first & second),
      "or" -> (first | second),
      "xor" -> (first ^ second),
      "shift_left" -> Mux(far, 0.U, (first << second(4, 0))(31, 0)),
      "shift_right" -> Mux(far, sign, (first.asSInt >> second(4, 0)).asUInt),
      "saturate" -> Elements.saturate(first, elementType),
      "less" -> Cat(0.U(31.W), less),
      "equal" -> Cat(0.U(31.W), first === second),
      "select" -> second
    )
    val known = Isa.functions("compute").map(_.name)
    require(known.toSet == results.keySet, s"isa.json has ${known.mkString(", ")}, not ${results.keys.mkString(", ")}")
    val value = MuxLookup(function, 0.U)(known.map(name => code(name) -> results(name)))
    (value, function =/= code("select") || first =/= 0.U)
  }

  /** It reads two operands. */
  def isBinary(function: UInt): Bool =
    VecInit(Isa.functions("compute").filter(_.sources == 2).map(_.code.U === function)).asUInt.orR
}
