package rackwright.drx

import chisel3._
import chisel3.util._

/** How the elements of an operand are read from a line: decoded once, a cycle before. */
class OperandControl extends Bundle {

  /** The size of elements, one of [[LaneBytes.sizes]]; none of them for a constant. */
  val sizes = Vec(LaneBytes.sizes.size, Bool())

  /** Their stride, one of `Isa.strides`: elements at any other are single, and read as contiguous ones. */
  val strides = Vec(Isa.strides.size, Bool())
  val signed = Bool()

  /** The type is bfloat16. */
  val short = Bool()
  val packing = UInt(2.W)

  /** Every lane gets the same element. */
  val same = Bool()
}

object OperandControl {

  /** That of an operand of a chunk with this packing. */
  def apply(operand: Operand, packing: UInt): OperandControl = {
    val control = Wire(new OperandControl)
    val bytes = Elements.bytes(operand.elementType)
    control.sizes := VecInit(LaneBytes.sizes.map(bytes === _.U))
    val others = Isa.strides.tail.map { by =>
      val sizes = LaneBytes.sizes.filter(_ * by <= Isa.strideBytes)
      sizes.map(size => bytes === size.U && operand.lane === (size * by).U).reduce(_ || _)
    }
    control.strides := VecInit(!others.reduce(_ || _) +: others)
    control.signed := Elements.signed(operand.elementType)
    control.short := Elements.short(operand.elementType)
    control.packing := packing
    control.same := Elements.same(operand)
    control
  }
}

/** The bytes of a line that may be the element of a lane: for each size, those at each stride.
  *
  * @param strided
  *   whether elements may have other strides than contiguous ones.
  */
class LaneBytes(strided: Boolean) extends Bundle {
  val choices: MixedVec[Vec[UInt]] =
    MixedVec(LaneBytes.sizes.map(size => Vec(LaneBytes.strides(size, strided).size, UInt((8 * size).W))))

  /** The element, extended to 32 bits. */
  def element(control: OperandControl): UInt = {
    val chosen = choices.map { at =>
      extended(control, if (at.size == 1) at.head else Mux1H(control.strides.take(at.size), at))
    }
    Mux1H(control.sizes, chosen)
  }

  private def extended(control: OperandControl, bits: UInt): UInt = {
    val above = 32 - bits.getWidth
    if (above == 0) bits
    else {
      val whole = Cat(Fill(above, control.signed && bits(bits.getWidth - 1)), bits)
      if (bits.getWidth == 16) Mux(control.short, bits << above, whole) else whole
    }
  }

  /** The elements that the lane computes if they are packed: its word, or two bytes as halves. */
  def packed(control: OperandControl): UInt = {
    val (pair, word) = (choices(1).head, choices(2).head)
    val halves = Seq(pair(15, 8), pair(7, 0)).map(byte => Cat(Fill(8, byte(7) && control.signed), byte))
    Mux(control.packing === Packing.halves && control.sizes(0), Cat(halves), word)
  }
}

object LaneBytes {

  /** Sizes of elements in bytes. */
  val sizes: Seq[Int] = Seq(1, 2, 4)

  /** The strides of elements of a size, the contiguous one first. */
  def strides(size: Int, strided: Boolean): Seq[Int] =
    Isa.strides.head +: Isa.strides.tail.filter(by => strided && size * by <= Isa.strideBytes)

  /** Those of `lane` in a line. Where a line may not hold elements for so many lanes, contiguous ones stand in. */
  def apply(params: Params, line: UInt, lane: Int, strided: Boolean): LaneBytes = {
    val bytes = Wire(new LaneBytes(strided))
    for ((size, at) <- sizes.zip(bytes.choices)) {
      at := VecInit(strides(size, strided).map { by =>
        val first = 8 * size * lane * (if (lane < Elements.most(params, size, by)) by else 1)
        line(first + 8 * size - 1, first)
      })
    }
    bytes
  }
}

/** One operand of neighbouring lanes, with a register of its own for how it is read.
  *
  * @param strided
  *   as of [[LaneBytes]].
  */
class OperandGroup(strided: Boolean) extends Module {

  /** How the operand of the next cycle is read. */
  val control = IO(Input(new OperandControl))
  val bytes = IO(Input(Vec(LaneGroup.lanes, new LaneBytes(strided))))

  /** The element of the first lane; and the number of all lanes, if they get the same one. */
  val first = IO(Output(UInt(32.W)))
  val shared = IO(Input(UInt(32.W)))

  /** The numbers, in the next cycle. */
  val numbers = IO(Output(Vec(LaneGroup.lanes, UInt(32.W))))

  private val now = RegNext(control)
  first := bytes.head.element(now)
  numbers := RegNext(VecInit(bytes.map { each =>
    val own = Mux(now.packing === Packing.none, each.element(now), each.packed(now))
    Mux(now.same, shared, own)
  }))
}
