package rackwright.drx

import chisel3._
import chisel3.util._

/** Properties of an operand that follow from its type and its layout in the scratchpad. */
object Elements {

  /** Types that can be stored in the scratchpad. */
  private val stored = Isa.types.filter(_.bytes > 0)

  private def select(elementType: UInt, of: ElementType => UInt): UInt =
    MuxLookup(elementType, 0.U)(Isa.types.map(each => each.code.U -> of(each)))

  /** Size of an element in bytes; 0 for a constant. */
  def bytes(elementType: UInt): UInt = select(elementType, _.bytes.U(3.W))

  /** The operand is the value of its calculator. */
  def constant(operand: Operand): Bool = operand.elementType === Isa.typed("constant").code.U

  /** Elements of type binary32 or bfloat16. */
  def float(operand: Operand): Bool = isFloat(operand.elementType)
  private def isFloat(elementType: UInt): Bool = select(elementType, _.float.B).asBool

  /** An operand that is moved to a destination of type `target` (true: floating point) is floating point. A constant
    * takes the type of the destination.
    */
  def moved(operand: Operand, target: Bool): Bool = Mux(constant(operand), target, float(operand))

  /** The type is bfloat16. */
  def short(elementType: UInt): Bool = isFloat(elementType) && bytes(elementType) === 2.U

  /** Elements are contiguous. */
  def packed(operand: Operand): Bool = operand.lane === bytes(operand.elementType)

  /** Every lane gets the same element. */
  def same(operand: Operand): Bool = constant(operand) || operand.lane === 0.U

  /** Number of elements that are accessed in one cycle, as a power of two: one for each lane, as many as a line holds
    * at any alignment, or one.
    */
  def together(params: Params, operand: Operand): UInt = {
    val known =
      for {
        size <- stored.map(_.bytes).distinct
        by <- Isa.strides if size * by <= Isa.strideBytes
      } yield (bytes(operand.elementType) === size.U && operand.lane === (size * by).U) ->
        log2Floor(most(params, size, by)).U
    // At most one of these conditions holds.
    Mux1H((same(operand) -> log2Ceil(params.lanes).U) +: known)
  }

  /** Number of elements of `size` bytes with a stride of `by` elements that fit in a line; a power of two, at most the
    * number of lanes.
    */
  private def most(params: Params, size: Int, by: Int): Int =
    1 << log2Floor(((params.lineBytes - size) / (size * by) + 1).min(params.lanes))

  /** Distance in bytes from the first of `count` elements to the last; `count` is at most that of [[together]]. */
  def span(operand: Operand, count: UInt): UInt =
    (count - 1.U) * operand.lane(log2Ceil(Isa.strideBytes), 0) +& bytes(operand.elementType)

  /** Element `lane` of `line`, extended to 32 bits, for every lane that [[together]] allows; without `strided`, for
    * contiguous elements only.
    */
  def load(params: Params, line: UInt, operand: Operand, lane: Int, strided: Boolean): UInt = {
    def number(bits: UInt, of: ElementType): UInt =
      if (of.float) Cat(bits, 0.U((32 - bits.getWidth).W))
      else if (of.signed) bits.asSInt.pad(32).asUInt
      else bits.pad(32)
    def at(size: Int, by: Int): UInt = line(8 * size * (by * lane + 1) - 1, 8 * size * by * lane)
    val bits = stored.map(_.bytes).distinct.map { size =>
      val others =
        Isa.strides.tail.filter(by => strided && size * by <= Isa.strideBytes && lane < most(params, size, by))
      size -> MuxLookup(operand.lane, at(size, 1))(others.map(by => (size * by).U -> at(size, by)))
    }.toMap
    MuxLookup(operand.elementType, 0.U)(stored.map(each => each.code.U -> number(bits(each.bytes), each)))
  }

  /** Packs the low bits of numbers to elements of `bytes`, and computes the byte mask for the `enabled` ones. */
  def pack(values: Seq[UInt], enabled: UInt, bytes: UInt): (UInt, UInt) = {
    def of(size: Int): (UInt, UInt) = (
      Cat(values.map(_(8 * size - 1, 0)).reverse).pad(32 * values.size),
      Cat(enabled.asBools.map(Fill(size, _)).reverse).pad(4 * values.size)
    )
    val sizes = Seq(1, 2, 4).map(size => size.U -> of(size))
    (
      MuxLookup(bytes, 0.U)(sizes.map { case (size, (data, _)) => size -> data }),
      MuxLookup(bytes, 0.U)(sizes.map { case (size, (_, mask)) => size -> mask })
    )
  }

  /** Saturates a number to the range of the type. */
  def saturate(value: UInt, elementType: UInt): UInt = {
    def clamp(each: ElementType): UInt = {
      val least = if (each.signed) -(BigInt(1) << (8 * each.bytes - 1)) else BigInt(0)
      val most = (BigInt(1) << (8 * each.bytes - (if (each.signed) 1 else 0))) - 1
      val number = value.asSInt
      Mux(number < least.S, least.S(32.W), Mux(number > most.S, most.S(32.W), number)).asUInt
    }
    MuxLookup(elementType, value)(stored.filter(each => each.bytes < 4 && !each.float).map(each =>
      each.code.U -> clamp(each)
    ))
  }
}
