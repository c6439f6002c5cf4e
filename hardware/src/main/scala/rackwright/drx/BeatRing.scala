package rackwright.drx

import chisel3._
import chisel3.util._

/** Allocates tags of beats, which complete in any order and retire in order.
  *
  * @param tags
  *   number of tags, a power of two.
  */
class BeatRing(tags: Int) extends Module {
  private val tagBits = log2Ceil(tags)

  /** The tag of the next beat; `last` marks the last beat of a transfer. */
  val allocate = IO(Decoupled(UInt(tagBits.W)))
  val last = IO(Input(Bool()))

  /** The beat with this tag is complete. */
  val done = IO(Flipped(Valid(UInt(tagBits.W))))

  /** A transfer retires: it is complete, and so are all before it. */
  val ended = IO(Output(Bool()))
  val empty = IO(Output(Bool()))

  private val busy = RegInit(0.U(tags.W))
  private val finished = RegInit(0.U(tags.W))
  private val ends = Reg(Vec(tags, Bool()))
  private val head = RegInit(0.U(tagBits.W))
  private val tail = RegInit(0.U(tagBits.W))

  allocate.valid := !busy(tail)
  allocate.bits := tail
  empty := busy === 0.U
  private val retires = finished(head)
  ended := retires && ends(head)

  private def bit(tag: UInt, on: Bool): UInt = Mux(on, UIntToOH(tag, tags), 0.U)
  private val retired = bit(head, retires)
  busy := (busy | bit(tail, allocate.fire)) & ~retired
  finished := (finished | bit(done.bits, done.valid)) & ~retired
  when(allocate.fire) {
    ends(tail) := last
    tail := tail + 1.U
  }
  when(retires) { head := head + 1.U }
  assert(!done.valid || busy(done.bits), "a beat is done that nobody asked for")
}
