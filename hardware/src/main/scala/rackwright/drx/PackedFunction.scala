package rackwright.drx

import chisel3._
import chisel3.util._

/** How many elements a lane computes at once: the logarithm of their number, which is 1, 2 or 4. */
object Packing {
  val none: UInt = 0.U(2.W)
  val halves: UInt = 1.U(2.W)
  val bytes: UInt = 2.U(2.W)

  /** The largest logarithm. */
  val most: Int = 2

  /** The packing of a vector instruction: by bytes or halves if its operands are integers of that size or smaller, each
    * contiguous or the same for all elements. A constant has a bit more, as an unsigned element has with its sign.
    */
  def apply(step: Step): UInt = {
    def fits(operand: Operand, size: Int): Bool = {
      val above = operand.address(31, 8 * size)
      val stored = Elements.whole(operand, size) && (operand.lane === 0.U || Elements.packed(operand))
      Mux(Elements.constant(operand), above.andR || !above.orR, stored)
    }
    def allows(size: Int): Bool =
      Elements.whole(step.destination, size) && Elements.packed(step.destination) && fits(step.first, size) &&
        (!LaneFunction.isBinary(step.function) || fits(step.second, size))
    Mux(allows(1), bytes, Mux(allows(2), halves, none))
  }

  /** The same number for all elements of a lane. */
  def spread(packing: UInt, number: UInt): UInt =
    MuxLookup(packing, number)(Seq(halves -> Fill(2, number(15, 0)), bytes -> Fill(4, number(7, 0))))
}

/** Control signals that extend the packed elements of an operand by one bit: the sign of each, or that of a constant.
  */
class PackedSign extends Bundle {
  val own = Bool()
  val negative = Bool()
}

object PackedSign {

  /** Those of an operand. */
  def apply(operand: Operand): PackedSign = {
    val sign = Wire(new PackedSign)
    val constant = Elements.constant(operand)
    sign.own := !constant && Elements.signed(operand.elementType)
    sign.negative := constant && operand.address(31)
    sign
  }
}

/** The first stage of a lane for packed elements: what [[LaneFunction]] returns for each of them, and products. */
object PackedFunction {
  private val wordBits = 32

  /** The results, and which of them are written. A product of halves is that of their low bytes: the other [[crossed]]
    * products are added to it in the next stage.
    */
  def apply(control: LaneControl, first: UInt, second: UInt): (UInt, UInt) = {
    val low = products(first, second, 0, 0)
    val shorts = low.zip(products(first, second, 1, 1)).flatMap { case (a, b) => Seq(a(7, 0), b(7, 0)) }
    val (bytes, written) = elements(control, first, second, 8, shorts)
    val (halves, writtenHalves) = elements(control, first, second, 16, low)
    val narrow = control.packing === Packing.bytes
    (Mux(narrow, bytes, halves), Mux(narrow, written, writtenHalves))
  }

  /** The products of a low and an upper byte, for both of them upper ones of each half: the bits that are in the half.
    */
  def crossed(first: UInt, second: UInt): Seq[Vec[UInt]] =
    Seq((0, 1), (1, 0)).map { case (i, j) => VecInit(products(first, second, i, j).map(_(7, 0))) }

  /** The sums of elements, without carry from one to the next; `upper` numbers are added to the upper bytes of halves.
    */
  def add(packing: UInt, numbers: Seq[UInt], upper: Seq[Vec[UInt]]): UInt = {
    val halves = numbers ++ upper.map(each => Cat(each.reverse.map(Cat(_, 0.U(8.W)))))
    def of(words: Seq[UInt], bits: Int): UInt =
      Cat(words.map(parts(_, bits)).transpose.map(MultiplyAdd.sum(bits, _)).reverse)
    Mux(packing === Packing.bytes, of(numbers, 8), of(halves, 16))
  }

  private def parts(word: UInt, bits: Int): Seq[UInt] =
    Seq.tabulate(wordBits / bits)(i => word(bits * (i + 1) - 1, bits * i))

  /** For each half, the product of byte `i` of the first number and byte `j` of the second. */
  private def products(first: UInt, second: UInt, i: Int, j: Int): Seq[UInt] =
    parts(first, 16).zip(parts(second, 16)).map { case (a, b) => a(8 * i + 7, 8 * i) * b(8 * j + 7, 8 * j) }

  private def elements(
      control: LaneControl,
      first: UInt,
      second: UInt,
      bits: Int,
      products: Seq[UInt]
  ): (UInt, UInt) = {
    def extended(word: UInt, sign: PackedSign): Seq[SInt] =
      parts(word, bits).map(part => Cat((part(bits - 1) && sign.own) || sign.negative, part).asSInt)
    val operands = extended(first, control.signs(0)).zip(extended(second, control.signs(1)))
    val results = operands.zip(products).map { case ((a, b), product) => element(control, a, b, bits, product) }
    (Cat(results.map(_._1).reverse), Cat(results.map(_._2).reverse).pad(1 << Packing.most))
  }

  /** The result of one element, and whether it is written. */
  private def element(control: LaneControl, a: SInt, b: SInt, bits: Int, product: UInt): (UInt, Bool) = {
    def low(number: Data): UInt = number.asUInt(bits - 1, 0)
    // A shift by all bits or more, or by a negative distance, shifts out all of them.
    val distance = b.asUInt(log2Ceil(bits) - 1, 0)
    val far = (b.asUInt >> log2Ceil(bits)).orR
    val less = a < b
    val results = Map(
      "move" -> low(a),
      "add" -> low(a + b),
      "subtract" -> low(a - b),
      "multiply" -> product,
      "minimum" -> low(Mux(less, a, b)),
      "maximum" -> low(Mux(less, b, a)),
      "and" -> low(a.asUInt & b.asUInt),
      "or" -> low(a.asUInt | b.asUInt),
      "xor" -> low(a.asUInt ^ b.asUInt),
      "shift_left" -> Mux(far, 0.U, low(a.asUInt << distance)),
      "shift_right" -> Mux(far, Fill(bits, a(bits)), low(a >> distance)),
      "saturate" -> saturate(a, bits, control.elementType),
      "less" -> Cat(0.U((bits - 1).W), less),
      "equal" -> Cat(0.U((bits - 1).W), a === b),
      "select" -> low(b),
      "multiply_add" -> product
    )
    val value = MuxLookup(control.function, 0.U)(
      Isa.functions("compute").map(function => function.code.U -> results(function.name))
    )
    (value, control.function =/= Isa.functionCode("compute", "select") || a =/= 0.S)
  }

  /** Saturates a number to the range of a type of at most `bits`. */
  private def saturate(number: SInt, bits: Int, elementType: UInt): UInt = {
    def clamp(each: ElementType): UInt = {
      val least = each.least.S
      val most = each.most.S
      Mux(number < least, least, Mux(number > most, most, number)).pad(bits + 1).asUInt(bits - 1, 0)
    }
    MuxLookup(elementType, number.asUInt(bits - 1, 0))(
      Isa.types.filter(each => each.bytes > 0 && 8 * each.bytes <= bits && !each.float).map(each =>
        each.code.U -> clamp(each)
      )
    )
  }
}
