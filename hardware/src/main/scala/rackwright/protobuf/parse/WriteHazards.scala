package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

/** Knows which beats have a write under way.
  *
  * Exactly: a filter that is also busy for other beats would hold up those that come again and again, such as objects
  * and arrays that are filled at the same speed.
  *
  * @param numberBits
  *   bits of the number of a beat.
  * @param outstanding
  *   tags: writes under way at any time.
  */
class WriteHazards(numberBits: Int, outstanding: Int) extends Module {

  /** A beat, and whether a write of it is under way. */
  val number = IO(Input(UInt(numberBits.W)))
  val busy = IO(Output(Bool()))

  /** A write of a beat that is not busy begins, with that tag. */
  val begin = IO(Input(Bool()))
  val begun = IO(Input(UInt(numberBits.W)))
  val tag = IO(Input(UInt(log2Ceil(outstanding).W)))

  /** The write of a tag has been answered; of no effect for tags that did not begin here. */
  val end = IO(Flipped(Valid(UInt(log2Ceil(outstanding).W))))

  // That a write begins is known late: it is noted a cycle after, and its answer comes no sooner.
  private val begins = RegNext(begin, false.B)
  private val newest = RegNext(begun)
  private val newestTag = RegNext(tag)
  private val numbers = Reg(Vec(outstanding, UInt(numberBits.W)))
  private val tracked = RegInit(0.U(outstanding.W))
  private val isTracked = numbers.zip(tracked.asBools).map { case (each, here) => here && each === number }
  busy := isTracked.reduce(_ || _) || (begins && newest === number)
  when(begins) { numbers(newestTag) := newest }
  private val starts = Mux(begins, UIntToOH(newestTag, outstanding), 0.U)
  tracked := (tracked | starts) & ~Mux(end.valid, UIntToOH(end.bits, outstanding), 0.U)
}
