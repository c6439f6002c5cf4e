package rackwright.pcie

import chisel3._
import chisel3.util._

/** The part of a range that one packet may read or write. */
class RangePart extends Bundle {
  val address = UInt(64.W)

  /** Beats of it. */
  val beats = UInt(RangePart.beatBits.W)

  /** The last of its range. */
  val last = Bool()
}

object RangePart {

  /** Width of the number of beats of the longest packet. */
  val beatBits: Int = log2Ceil(Params.sizes.max / Params.beatBytes + 1)
}

/** Cuts ranges at multiples of the longest packet, which no page of 4 KiB cuts again (PCI Express 5.0, 2.2.7). Ranges
  * and the longest packet are powers of two and multiples of a beat; there is a part at most every second cycle.
  *
  * @param most
  *   bytes of the longest packet that there is room for.
  */
class RangeSplitter(most: Int) extends Module {
  val range = IO(Flipped(Decoupled(new DmaRequest)))

  /** The longest packet that software allows, as the specification encodes it. */
  val size = IO(Input(UInt(3.W)))
  val part = IO(Decoupled(new RangePart))
  val idle = IO(Output(Bool()))

  private val current = Reg(new DmaRequest)
  private val busy = RegInit(false.B)
  private val offered = RegInit(false.B)
  private val offer = Reg(new RangePart)

  private val exponent = Mux(size > log2Ceil(most / Params.sizes.head).U, log2Ceil(most / Params.sizes.head).U, size)
  private val limit = (Params.sizes.head.U(13.W) << exponent)(12, 0)
  private val ahead = limit - (current.address(11, 0) & (limit - 1.U)(11, 0))
  private val ends = current.bytes <= ahead
  private val step = Mux(ends, current.bytes(12, 0), ahead)

  range.ready := !busy
  when(range.fire) {
    current := range.bits
    busy := true.B
    assert(range.bits.bytes =/= 0.U, "a range is empty")
    assert(range.bits.address(3, 0) === 0.U && range.bits.bytes(3, 0) === 0.U, "a range cuts a beat")
  }
  when(busy && !offered) {
    offer.address := current.address
    offer.beats := step >> log2Ceil(Params.beatBytes)
    offer.last := ends
    current.address := current.address + step
    current.bytes := current.bytes - step
    offered := true.B
    busy := !ends
  }
  part.valid := offered
  part.bits := offer
  when(part.fire) { offered := false.B }
  idle := !busy && !offered
}
