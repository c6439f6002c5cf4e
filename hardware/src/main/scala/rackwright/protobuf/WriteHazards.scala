package rackwright.protobuf

import chisel3._
import chisel3.util._

/** Knows which beats have a write under way, but for some that are taken for them.
  *
  * A bit for each value of a hash of the beat's number, in words of 64, so that only one of them is looked at.
  */
class WriteHazards(numberBits: Int, outstanding: Int) extends Module {
  import WriteHazards._

  /** A beat, and whether a write of it, or of one with the same hash, is under way. */
  val number = IO(Input(UInt(numberBits.W)))
  val busy = IO(Output(Bool()))

  /** A write of it begins, with that tag; only while it is not busy. */
  val begin = IO(Input(Bool()))
  val tag = IO(Input(UInt(log2Ceil(outstanding).W)))

  /** The write of a tag has been answered; of no effect for tags that did not begin here. */
  val end = IO(Flipped(Valid(UInt(log2Ceil(outstanding).W))))

  private val words = RegInit(VecInit.fill(slots / wordBits)(0.U(wordBits.W)))
  private val slotOfTag = Mem(outstanding, UInt(slotBits.W))
  private val tracked = RegInit(0.U(outstanding.W))

  private val slot = number(slotBits - 1, 0) ^ number(2 * slotBits - 1, slotBits)
  private val ended = slotOfTag.read(end.bits)
  private val ends = end.valid && tracked(end.bits)
  busy := words(wordOf(slot))(bitOf(slot))
  when(begin) { slotOfTag.write(tag, slot) }
  for ((word, i) <- words.zipWithIndex) {
    val sets = Mux(begin && wordOf(slot) === i.U, UIntToOH(bitOf(slot), wordBits), 0.U)
    val clears = Mux(ends && wordOf(ended) === i.U, UIntToOH(bitOf(ended), wordBits), 0.U)
    word := (word | sets) & ~clears
  }
  private val begun = Mux(begin, UIntToOH(tag, outstanding), 0.U)
  tracked := (tracked & ~Mux(ends, UIntToOH(end.bits, outstanding), 0.U)) | begun
}

/** Constants of [[WriteHazards]]. */
object WriteHazards {
  val slots: Int = 1024
  private val wordBits = 64
  private val slotBits = log2Ceil(slots)

  private def wordOf(slot: UInt): UInt = slot >> log2Ceil(wordBits)
  private def bitOf(slot: UInt): UInt = slot(log2Ceil(wordBits) - 1, 0)
}
