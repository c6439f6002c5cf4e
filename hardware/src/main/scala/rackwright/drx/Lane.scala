package rackwright.drx

import chisel3._
import chisel3.util._

/** Control signals for all lanes, for one chunk. */
class LaneControl extends Bundle {
  val function = UInt(Isa.function.bits.W)

  /** Decoded functions, registered ahead of the stage that uses them; the first is asserted for `subtract` as well. */
  val adds = Bool()
  val subtracts = Bool()
  val multiplies = Bool()
  val accumulates = Bool()
  val saturates = Bool()

  /** Operands are binary32 numbers. */
  val float = Bool()

  /** How many elements a lane has, and whether there are several: how both operands are extended, whether the products
    * are of halves, and whether they are added to the third.
    */
  val packing = UInt(2.W)
  val packed = Bool()
  val signs = Vec(2, new PackedSign)
  val packedProducts = Bool()
  val packedSums = Bool()

  /** The result comes from the adder behind the multiplier; it is a binary32 number, or an integer that is converted to
    * one.
    */
  val sums = Bool()
  val rounds = Bool()

  /** Converts an integer to binary32, or a binary32 number to an integer. */
  val toFloat = Bool()
  val toInteger = Bool()

  /** The type of the result, and whether it is bfloat16. */
  val elementType = UInt(Operand.typeBits.W)
  val short = Bool()
}

object LaneControl {

  /** Decodes the control signals for a chunk.
    *
    * Arithmetic and comparisons use binary32 if any operand that they read is floating point. A constant that is moved
    * takes the type of the destination; in other functions it takes the type of the other operand.
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
    control.adds := is("add", "subtract")
    control.subtracts := is("subtract")
    val packed = chunk.packing =/= Packing.none
    control.packing := chunk.packing
    control.packed := packed
    control.signs := VecInit(PackedSign(chunk.first), PackedSign(chunk.second))
    control.packedProducts := chunk.packing === Packing.halves && is("multiply", "multiply_add")
    control.packedSums := packed && is("multiply_add")
    control.multiplies := !packed && is("multiply")
    control.accumulates := !packed && is("multiply_add")
    control.saturates := !packed && is("saturate")
    control.float := float
    control.sums := float && is("add", "subtract", "multiply", "multiply_add")
    control.toFloat := !result && target
    control.rounds := control.sums || control.toFloat
    control.toInteger := result && !target
    control.elementType := chunk.destination.elementType
    control.short := Elements.short(chunk.destination.elementType)
    control
  }
}

/** One lane: a pipeline from three numbers to a result, which accepts new numbers in each cycle.
  *
  * The first stage is [[LaneFunction]] or [[PackedFunction]], in parallel with the first of [[MultiplyAdd]]; the last
  * one converts.
  */
class Lane extends Module {

  /** Control signals of each stage: `control(0)` accompanies `numbers`, `control(i)` follows i cycles later. */
  val control = IO(Input(Vec(Lane.stages, new LaneControl)))
  val numbers = IO(Input(Vec(3, UInt(32.W))))
  val result = IO(Output(UInt(32.W)))

  /** The elements of the result that are to be written. */
  val written = IO(Output(UInt((1 << Packing.most).W)))

  private val (first, second, third) = (numbers(0), numbers(1), numbers(2))

  // Additions are products with one, and products are additions of minus zero, which is neutral.
  private val added = Mux1H(
    Seq(
      control(0).adds -> Cat(second(31) ^ control(0).subtracts, second(30, 0)),
      control(0).multiplies -> FloatNumber.minusZero,
      (!control(0).adds && !control(0).multiplies) -> third
    )
  )
  private val aligned = RegNext(MultiplyAdd.align(first, second, added, control(0).adds))
  private val (value, writes) = LaneFunction(control(0).function, first, second, control(0).float)
  private val (packedValue, packedWrites) = PackedFunction(control(0), first, second)
  private val computed = RegNext(Mux(control(0).packed, packedValue, value))

  // An integer product is the sum of two partial products, by the lower and the upper half; they are added in a later
  // stage.
  private val lower = RegNext((first * second(15, 0))(31, 0))
  private val upper = RegNext((first(15, 0) * second(31, 16))(15, 0))
  private val addend = RegNext(third)
  private val crossed = PackedFunction.crossed(first, second).map(RegNext(_))
  written := ShiftRegister(Mux(control(0).packed, packedWrites, writes.asUInt), Lane.stages)

  private val isProduct = control(1).multiplies || control(1).accumulates
  private val total = MultiplyAdd.sum(
    32,
    Seq(
      Mux(isProduct, lower, computed),
      Mux(isProduct, Cat(upper, 0.U(16.W)), 0.U),
      Mux(control(1).accumulates, addend, 0.U)
    )
  )
  private val packedTotal = PackedFunction.add(
    control(1).packing,
    Seq(computed, Mux(control(1).packedSums, addend, 0.U)),
    crossed.map(each => VecInit(each.map(Mux(control(1).packedProducts, _, 0.U))))
  )
  private val summed =
    RegNext(Mux(control(1).sums, MultiplyAdd.add(aligned, control(1).adds), MultiplyAdd.whole(total)))
  private val counted = RegNext(MultiplyAdd.count(summed))
  private val normalised = RegNext(MultiplyAdd.normalise(counted))
  private val rounded = RegNext(MultiplyAdd.round(normalised))

  // Last stage: converts to the type of the destination. A number that needs no rounding was converted in the stage
  // before.
  private val whole = RegNext(Mux(control(1).packed, packedTotal, total))
  private val kept = RegNext(converted(ShiftRegister(whole, 2), control(Lane.stages - 2), saturates = true))
  private val last = control(Lane.stages - 1)
  result := RegNext(Mux(last.rounds, converted(rounded, last, saturates = false), kept))

  /** Converts a number to the type of a destination. Rounded numbers never saturate, since they are binary32. */
  private def converted(number: UInt, by: LaneControl, saturates: Boolean): UInt = {
    val whole = Mux(by.toInteger, FloatNumber.toInteger(number), number)
    val nearest = if (saturates) Mux(by.saturates, Elements.saturate(whole, by.elementType), whole) else whole
    Mux(by.short, FloatNumber.toShort(number), nearest)
  }
}

object Lane {

  /** Latency in cycles. */
  val stages: Int = 6
}
