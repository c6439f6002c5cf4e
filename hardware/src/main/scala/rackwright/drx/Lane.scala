package rackwright.drx

import chisel3._
import chisel3.util._

/** What all lanes do with a chunk. */
class LaneControl extends Bundle {
  val function = UInt(Isa.function.bits.W)

  /** Numbers are compared, added and multiplied as those of binary32. */
  val float = Bool()

  /** The result comes from the sum of a product. */
  val sums = Bool()

  /** A whole number becomes one of binary32; one of binary32 becomes a whole one. */
  val toFloat = Bool()
  val toInteger = Bool()

  /** The type of the result. */
  val elementType = UInt(Operand.typeBits.W)
}

object LaneControl {

  /** What is to be done with a chunk.
    *
    * Arithmetic and comparisons are of binary32 if an operand that they read is. A constant that is moved has the type
    * of the destination; for all that is computed, it is taken as the other operand is.
    */
  def apply(chunk: VectorChunk): LaneControl = {
    val control = Wire(new LaneControl)
    val function = chunk.function
    def is(names: String*): Bool = LaneFunction.isOneOf(function, names: _*)
    val target = Elements.float(chunk.destination)
    val float = Elements.float(chunk.first) || (LaneFunction.isBinary(function) && Elements.float(chunk.second))
    val moved = Mux(is("select"), Elements.moved(chunk.second, target), Elements.moved(chunk.first, target))
    val result = MuxCase(
      false.B,
      Seq(
        is("move", "saturate", "select") -> moved,
        is("add", "subtract", "multiply", "multiply_add", "minimum", "maximum") -> float
      )
    )
    control.function := function
    control.float := float
    control.sums := float && is("add", "subtract", "multiply", "multiply_add")
    control.toFloat := !result && target
    control.toInteger := result && !target
    control.elementType := chunk.destination.elementType
    control
  }
}

/** One lane: three numbers in, and a result some cycles later; a new one in each cycle.
  *
  * The first stage is [[LaneFunction]], beside the first of [[MultiplyAdd]]; the last one converts.
  */
class Lane extends Module {

  /** What is done, in each stage: `control(0)` with `numbers`, `control(i)` i cycles later. */
  val control = IO(Input(Vec(Lane.stages, new LaneControl)))
  val numbers = IO(Input(Vec(3, UInt(32.W))))
  val result = IO(Output(UInt(32.W)))

  /** The result is one that is written. */
  val written = IO(Output(Bool()))

  private val (first, second, third) = (numbers(0), numbers(1), numbers(2))
  private def is(stage: Int, names: String*): Bool = LaneFunction.isOneOf(control(stage).function, names: _*)

  // Sums are products with one, and products are sums with minus 0, which changes nothing.
  private val added = MuxCase(
    third,
    Seq(
      is(0, "add") -> second,
      is(0, "subtract") -> Cat(!second(31), second(30, 0)),
      is(0, "multiply") -> FloatNumber.minusZero
    )
  )
  private val factor = Mux(is(0, "add", "subtract"), FloatNumber.one, second)
  private val aligned = RegNext(MultiplyAdd.align(first, factor, added))
  private val (value, writes) = LaneFunction(control(0).function, first, second, control(0).float)
  private val computed = RegNext(value)
  private val addend = RegNext(third)
  written := ShiftRegister(writes, Lane.stages)

  private val total = computed + Mux(is(1, "multiply_add"), addend, 0.U)
  private val summed = RegNext(Mux(control(1).sums, MultiplyAdd.add(aligned), MultiplyAdd.whole(total)))
  private val counted = RegNext(MultiplyAdd.count(summed))
  private val normalised = RegNext(MultiplyAdd.normalise(counted))
  private val rounded = RegNext(MultiplyAdd.round(normalised))
  private val kept = ShiftRegister(RegNext(total), 3)

  // Last stage: the number as that of the destination.
  private val last = control(Lane.stages - 1)
  private val number = Mux(last.sums || last.toFloat, rounded, kept)
  private val whole = Mux(last.toInteger, FloatNumber.toInteger(number), number)
  private val nearest = Mux(is(Lane.stages - 1, "saturate"), Elements.saturate(whole, last.elementType), whole)
  result := RegNext(Mux(Elements.short(last.elementType), FloatNumber.toShort(number), nearest))
}

object Lane {

  /** Cycles from numbers to a result. */
  val stages: Int = 6
}
