package rackwright.allocate

import chisel3._
import chisel3.util._

import rackwright.memory.Sram

/** Requests a list with blocks in it. */
class ListSearch extends Bundle {
  val list = UInt(SizeList.bits.W)

  /** This one or none; else the first from it on. */
  val exact = Bool()
}

/** The list that was found, and its first block. */
class FoundList extends Bundle {
  val exists = Bool()
  val list = UInt(SizeList.bits.W)
  val head = UInt(Grain.bits.W)
}

/** A list whose first block is another from now on, or that has none. */
class ListChange extends Bundle {
  val list = UInt(SizeList.bits.W)
  val head = new Neighbour
}

/** The first block of each free list, and which lists have any. */
class FreeLists extends Module {
  private val steps = 1 << SizeList.stepBits

  /** Forgets all blocks. */
  val clear = IO(Input(Bool()))
  val search = IO(Flipped(Valid(new ListSearch)))

  /** Four cycles later. */
  val found = IO(Valid(new FoundList))
  val change = IO(Flipped(Valid(new ListChange)))

  private val filled = RegInit(VecInit.fill(SizeList.groups)(0.U(steps.W)))
  private val heads = Sram(1 << SizeList.bits, UInt(Grain.bits.W))
  private def group(list: UInt): UInt = list(SizeList.bits - 1, SizeList.stepBits)
  private def step(list: UInt): UInt = list(SizeList.stepBits - 1, 0)

  when(change.valid) {
    val bit = UIntToOH(step(change.bits.list), steps)
    val before = filled(group(change.bits.list))
    filled(group(change.bits.list)) := Mux(change.bits.head.exists, before | bit, before & ~bit)
    heads.write(change.bits.list, change.bits.head.place)
  }
  when(clear) { filled.foreach(_ := 0.U) }

  // First the lists of the same group, then the groups above.
  private val asked = RegNext(search)
  private val inGroup = Reg(UInt(steps.W))
  inGroup := filled(group(search.bits.list))
  private val others = Reg(UInt(SizeList.groups.W))
  others := VecInit(filled.map(_.orR)).asUInt
  private val here = Wire(UInt(steps.W))
  here := inGroup & Mux(
    asked.bits.exact,
    UIntToOH(step(asked.bits.list), steps),
    (Fill(steps, 1.U(1.W)) << step(asked.bits.list))(steps - 1, 0)
  )
  private val above = Wire(UInt(SizeList.groups.W))
  above := Mux(
    asked.bits.exact,
    0.U,
    others & (Fill(SizeList.groups, 1.U(1.W)) << group(asked.bits.list) << 1)(SizeList.groups - 1, 0)
  )

  private val isHere = RegNext(here.orR)
  private val exists = RegNext(here.orR || above.orR)
  private val stepHere = RegNext(PriorityEncoder(here))
  private val groupHere = RegNext(group(asked.bits.list))
  private val groupAbove = RegNext(PriorityEncoder(above))

  private val chosenGroup = Mux(isHere, groupHere, groupAbove)
  private val chosenStep = Mux(isHere, stepHere, PriorityEncoder(filled(groupAbove)))
  private val list = RegNext(Cat(chosenGroup, chosenStep))
  private val readNow = ShiftRegister(search.valid, 3, false.B, true.B)
  found.bits.head := heads.read(list, readNow)
  found.bits.list := RegNext(list)
  found.bits.exists := RegNext(RegNext(exists))
  found.valid := RegNext(readNow, false.B)
}
