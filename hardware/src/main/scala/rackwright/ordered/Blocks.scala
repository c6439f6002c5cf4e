package rackwright.ordered

import chisel3._

/** The sets in which a node may be that covers the key of a walk, by the block of the key; three cycles later. */
class Blocks(params: Params) extends Module {
  val tree = IO(Input(new Tree))
  val walk = IO(Input(new Walk))

  /** Its node has come from memory. */
  val arrived = IO(Input(Bool()))

  /** Without key and number. */
  val look = IO(Output(new Look(params)))
  private def later[T <: Data](cycles: Int)(what: T): T = Seq.iterate(what, cycles + 1)(RegNext(_)).last

  private val isWide = Mux(arrived, walk.level === tree.wide.level, walk.step === Step.wide)
  look := 0.U.asTypeOf(look)
  look.wide := later(3)(isWide)
  if (params.byRange) {
    // 1 and 2: the block of the key, and that in which the node begins.
    val shift = RegNext(Mux(isWide, tree.wide.shift, tree.near.shift))
    val block = RegNext(RegNext(walk.key) >> shift)
    val begin = RegNext(RegNext(walk.low) >> shift)

    // 3: both sets, and the bank of the set in which the node begins.
    val before = block - 1.U
    val isOdd = block(0)
    val sets = Seq(Mux(isOdd, before, block), Mux(isOdd, block, before))
    look.sets := RegNext(VecInit(sets.map(_(params.setBits - 1, 1))))
    look.bank := RegNext(Mux(begin === block || begin === before, begin(0), isOdd))
  } else {
    look.sets := VecInit.fill(2)(later(3)(walk.number(params.setBits - 1, 1)))
    look.bank := later(3)(walk.number(0))
  }
}
