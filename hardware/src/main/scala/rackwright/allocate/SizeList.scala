package rackwright.allocate

import chisel3._
import chisel3.util._

/** Which free list a size belongs to: one for each of the eight steps between two powers of two, and one for each size
  * below eight grains (the two levels of Masmano 2004, "TLSF", section 4).
  */
object SizeList {
  val stepBits: Int = 3
  val bits: Int = 8
  val groups: Int = 1 << (bits - stepBits)

  /** The list of a size whose highest bit is `top`. */
  def of(size: UInt, top: UInt): UInt = {
    val steps = (size >> (top - stepBits.U)(4, 0))(stepBits - 1, 0)
    Mux(top < stepBits.U, size(bits - 1, 0), Cat((top - (stepBits - 1).U)(bits - stepBits - 1, 0), steps))
  }
}

/** A size whose list is requested. */
class ListQuestion extends Bundle {
  val size = UInt(Grain.bits.W)

  /** The first list whose blocks are all large enough, instead of the one with blocks of this size. */
  val enough = Bool()
}

/** Finds the list of a size, four cycles after the request. */
class SizeClassifier extends Module {
  val question = IO(Flipped(Valid(new ListQuestion)))
  val list = IO(Valid(UInt(SizeList.bits.W)))

  private def top(size: UInt): UInt = Log2(size)

  private val first = RegNext(top(question.bits.size))
  private val asked = RegNext(question.bits)
  // Sizes between two lists belong to the lower one; rounded up, none does.
  private val below = ((1.U << first) - 1.U)(Grain.bits - 1, 0) >> SizeList.stepBits
  private val rounded = Reg(UInt(Grain.bits.W))
  rounded := asked.size + Mux(asked.enough, below, 0.U)
  private val second = RegNext(top(rounded))
  private val size = RegNext(rounded)
  list.bits := RegNext(SizeList.of(size, second))
  list.valid := ShiftRegister(question.valid, 4, false.B, true.B)
}
