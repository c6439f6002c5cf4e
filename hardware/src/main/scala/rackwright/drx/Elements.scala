package rackwright.drx

import chisel3._
import chisel3.util._

/** What follows from the type of an operand and the way it lies in the scratchpad. */
object Elements {

  /** Types that lie in the scratchpad. */
  private val stored = Isa.types.filter(_.bytes > 0)

  private def select(elementType: UInt, of: ElementType => UInt): UInt =
    MuxLookup(elementType, 0.U)(Isa.types.map(each => each.code.U -> of(each)))

  /** Bytes of an element; 0 of a constant. */
  def bytes(elementType: UInt): UInt = select(elementType, _.bytes.U(3.W))

  /** The operand is the value of its calculator. */
  def constant(operand: Operand): Bool = operand.elementType === Isa.typed("constant").code.U

  /** Numbers of binary32, or of its upper half. */
  def float(operand: Operand): Bool = isFloat(operand.elementType)
  private def isFloat(elementType: UInt): Bool = select(elementType, _.float.B).asBool

  /** An operand that is moved to a place of binary32 or another one is of binary32. */
  def moved(operand: Operand, target: Bool): Bool = Mux(constant(operand), target, float(operand))

  /** The type is the upper half of binary32. */
  def short(elementType: UInt): Bool = isFloat(elementType) && bytes(elementType) === 2.U

  /** Elements follow one another without a gap. */
  def packed(operand: Operand): Bool = operand.lane === bytes(operand.elementType)

  /** All lanes have the same element. */
  def same(operand: Operand): Bool = constant(operand) || operand.lane === 0.U

  /** How many elements are read at once, as a power of two: all lanes, or those that a line has for sure, or one. */
  def together(params: Params, operand: Operand): UInt = {
    val known =
      for {
        size <- stored.map(_.bytes).distinct
        by <- Isa.strides if size * by <= Isa.strideBytes
      } yield (bytes(operand.elementType) === size.U && operand.lane === (size * by).U) ->
        log2Floor(most(params, size, by)).U
    // At most one of them holds.
    Mux1H((same(operand) -> log2Ceil(params.lanes).U) +: known)
  }

  /** Elements of `size` bytes that a line has, of which every one of so many is taken; a power of two, at most lanes.
    */
  private def most(params: Params, size: Int, by: Int): Int =
    1 << log2Floor(((params.lineBytes - size) / (size * by) + 1).min(params.lanes))

  /** Bytes from the first of `count` elements to the last; `count` is at most what [[together]] says. */
  def span(operand: Operand, count: UInt): UInt =
    (count - 1.U) * operand.lane(log2Ceil(Isa.strideBytes), 0) +& bytes(operand.elementType)

  /** Element `lane` of `line` as a number of 32 bits, for all lanes that [[together]] gives elements; if not `strided`,
    * for those of packed ones alone.
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

  /** The low bits of numbers, packed as elements of `bytes`, and those of the `enabled` whose bytes they are. */
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

  /** The nearest number that the type has. */
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
