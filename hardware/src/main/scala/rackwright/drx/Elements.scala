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

  /** Elements follow one another without a gap. */
  def packed(operand: Operand): Bool = operand.lane === bytes(operand.elementType)

  /** All lanes have the same element. */
  def same(operand: Operand): Bool = constant(operand) || operand.lane === 0.U

  /** Bytes that `count` elements take that are packed, or one if all are the same. */
  def span(operand: Operand, count: UInt): UInt = {
    val elements = Mux(same(operand), 1.U, count)
    MuxLookup(bytes(operand.elementType), 0.U)(
      Seq(1, 2, 4).map(size => size.U -> (elements << log2Ceil(size)))
    )
  }

  /** Element `lane` of `line` as a number of 32 bits. */
  def load(line: UInt, elementType: UInt, lane: Int): UInt =
    MuxLookup(elementType, 0.U)(stored.map { each =>
      val bits = line(8 * each.bytes * (lane + 1) - 1, 8 * each.bytes * lane)
      each.code.U -> (if (each.signed) bits.asSInt.pad(32).asUInt else bits.pad(32))
    })

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
    MuxLookup(elementType, value)(stored.filter(_.bytes < 4).map(each => each.code.U -> clamp(each)))
  }
}
