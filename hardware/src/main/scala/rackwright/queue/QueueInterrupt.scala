package rackwright.queue

import chisel3._
import chisel3.util._

/** Wakes programs that sleep until their side of a queue may continue: until the tile has published an element behind
  * an index, or has released a place behind it. One interrupt for each direction: software enables it with the index
  * that it has read last, and acknowledges it. It is pending as soon as memory has an index behind the awaited one,
  * also if that was so before, and when the engine closes or stops, after which nothing would come.
  */
class QueueInterrupt extends Module {
  import QueueInterrupt._

  /** The engine is open; it closes or stops at the end of this cycle. */
  val open, ends = IO(Input(Bool()))

  /** By direction, the index that memory has, in the low bits. */
  val reached = IO(Input(Vec(directions, Valid(UInt(indexBits.W)))))

  /** By direction, sets the awaited index. */
  val await = IO(Input(Vec(directions, Valid(UInt(indexBits.W)))))

  /** Enables interrupts of directions; acknowledges them, after which they are neither pending nor enabled. */
  val enable, acknowledge = IO(Flipped(Valid(UInt(directions.W))))

  val awaited = IO(Output(Vec(directions, UInt(indexBits.W))))
  val enabled, pending = IO(Output(UInt(directions.W)))

  /** An interrupt is pending; one will be in the next cycle. */
  val line, rises = IO(Output(Bool()))

  private val each = Seq.fill(directions)(new Direction)
  for (((one, now), set) <- each.zip(reached).zip(await)) {
    val past = (now.bits - one.index).asSInt
    one.fires := open && one.enabled && (ends || now.valid && past > 0.S)
    when(one.fires) {
      one.enabled := false.B
      one.pending := true.B
    }
    when(set.valid) { one.index := set.bits }
  }
  for ((one, number) <- each.zipWithIndex) {
    // An engine that is closed has nothing to announce.
    when(enable.valid && enable.bits(number)) { one.enabled := true.B }
    when(!open || ends) { one.enabled := false.B }
    when(acknowledge.valid && acknowledge.bits(number)) {
      one.enabled := false.B
      one.pending := false.B
    }
  }
  awaited := each.map(_.index)
  enabled := VecInit(each.map(_.enabled)).asUInt
  pending := VecInit(each.map(_.pending)).asUInt
  line := pending.orR
  rises := each.map(_.fires).reduce(_ || _)
}

object QueueInterrupt {

  /** Numbers of the directions: the outgoing queue has an element, the incoming one has room. */
  val element: Int = 0
  val room: Int = 1
  val directions: Int = 2

  /** Bits of an index that are compared: more than lie between the indices of both sides of a queue. */
  val indexBits: Int = 32

  private class Direction {
    val enabled, pending = RegInit(false.B)
    val index = RegInit(0.U(indexBits.W))
    val fires = Wire(Bool())
  }
}
