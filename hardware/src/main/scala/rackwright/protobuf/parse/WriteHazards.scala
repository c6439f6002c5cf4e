package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

/** Tracks the beats with an outstanding write.
  *
  * The comparison is exact: a filter with false positives would stall beats that recur at a fixed distance, such as
  * objects and arrays that are filled at the same rate.
  *
  * @param numberBits
  *   width of the number of a beat.
  * @param outstanding
  *   number of tags: maximum number of outstanding writes.
  */
class WriteHazards(numberBits: Int, outstanding: Int) extends Module {

  /** A beat, and whether a write to it is outstanding. */
  val number = IO(Input(UInt(numberBits.W)))
  val busy = IO(Output(Bool()))

  /** A write to a beat without an outstanding write starts, with this tag. */
  val begin = IO(Input(Bool()))
  val begun = IO(Input(UInt(numberBits.W)))
  val tag = IO(Input(UInt(log2Ceil(outstanding).W)))

  /** The write of a tag has been answered; ignored for tags that were not started here. */
  val end = IO(Flipped(Valid(UInt(log2Ceil(outstanding).W))))

  // The start of a write is known late: it is registered, and its response arrives no sooner.
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
