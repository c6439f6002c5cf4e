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

  /** Elements are integers of at most `size` bytes. */
  def whole(operand: Operand, size: Int): Bool =
    select(operand.elementType, each => (each.bytes > 0 && each.bytes <= size && !each.float).B).asBool

  /** Integers of the type may be negative. */
  def signed(elementType: UInt): Bool = select(elementType, _.signed.B).asBool

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
  def most(params: Params, size: Int, by: Int): Int =
    1 << log2Floor(((params.lineBytes - size) / (size * by) + 1).min(params.lanes))

  /** Distance in bytes from the first of `count` elements to the last; `count` is at most that of [[together]]. */
  def span(operand: Operand, count: UInt): UInt =
    (count - 1.U) * operand.lane(log2Ceil(Isa.strideBytes), 0) +& bytes(operand.elementType)

  /** Packs the first `count` results of lanes to contiguous elements of `bytes`, with the byte mask of those that are
    * `written`: each lane has one of 32 bits, two of 16 or four of 8, by `packing`.
    */
  def pack(values: Seq[UInt], written: Seq[UInt], count: UInt, packing: UInt, bytes: UInt): (UInt, UInt) = {
    val below = Seq.tabulate(values.size << Packing.most)(_.U < count)
    // Each lane has `1 << each` results, of which the low `size` bytes are kept.
    def of(each: Int, size: Int): (UInt, UInt) = {
      val bits = 32 >> each
      val data = values.flatMap(value => Seq.tabulate(1 << each)(i => value(bits * i + 8 * size - 1, bits * i)))
      val kept = written.flatMap(flags => flags.asBools.take(1 << each)).zip(below).map { case (a, b) => a && b }
      (
        Cat(data.reverse).pad(32 * values.size),
        Cat(kept.map(Fill(size, _)).reverse).pad(4 * values.size)
      )
    }
    val forms = Seq((0, 1), (0, 2), (0, 4), (1, 1), (1, 2), (2, 1))
    val chosen = forms.map { case (each, size) => packing === each.U && bytes === size.U }
    val made = forms.map { case (each, size) => of(each, size) }
    (Mux1H(chosen, made.map(_._1)), Mux1H(chosen, made.map(_._2)))
  }

  /** Saturates a number to the range of the type. */
  def saturate(value: UInt, elementType: UInt): UInt = {
    def clamp(each: ElementType): UInt = {
      val number = value.asSInt
      Mux(
        number < each.least.S,
        each.least.S(32.W),
        Mux(number > each.most.S, each.most.S(32.W), number)
      ).asUInt
    }
    MuxLookup(elementType, value)(stored.filter(each => each.bytes < 4 && !each.float).map(each =>
      each.code.U -> clamp(each)
    ))
  }
}
