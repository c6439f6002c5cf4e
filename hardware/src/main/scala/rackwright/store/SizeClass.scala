package rackwright.store

import chisel3._
import chisel3.util._

/** Size classes of items: one class for each size up to eight grains, and four for each power of two above. */
class SizeClass extends Bundle {
  val number = UInt(SizeClass.bits.W)
  val grains = UInt(Limits.sizeBits.W)
}

object SizeClass {
  val bits: Int = 6
}

/** The smallest class whose items hold this number of grains, and the largest class whose items fit into it. */
class SizeClassifier extends Module {
  val grains = IO(Flipped(Valid(UInt(Limits.sizeBits.W))))

  /** Valid two cycles after the input. */
  val above = IO(Valid(new SizeClass))
  val below = IO(Output(new SizeClass))

  private val count = RegEnable(grains.bits, grains.valid)
  private val most = RegEnable(grains.bits - 1.U, grains.valid)
  private val began = RegNext(grains.valid, false.B)

  // The bits below the uppermost three of the largest size of the class.
  private val shift = VecInit((3 until Limits.sizeBits).map(i => most(i))).asUInt
  private val cut = Mux(shift === 0.U, 0.U, Log2(shift) +& 1.U)
  private val lead = (most >> cut)(2, 0)
  private val found = Reg(new SizeClass)
  private val less = Reg(UInt(Limits.sizeBits.W))
  private val exact = Reg(Bool())
  when(began) {
    found.number := Mux(cut === 0.U, lead, Cat(cut, lead(1, 0)) + 4.U)
    found.grains := (lead +& 1.U) << cut
    less := lead << cut
    exact := ((lead +& 1.U) << cut) === count
  }
  above.valid := RegNext(began, false.B)
  above.bits := found
  below.number := Mux(exact, found.number, found.number - 1.U)
  below.grains := Mux(exact, found.grains, less)
}
