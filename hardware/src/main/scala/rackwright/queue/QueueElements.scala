package rackwright.queue

import chisel3._
import chisel3.util._

/** Consecutive elements of a queue in a line, the first one in the low bits. */
class QueueElements extends Bundle {
  val data = UInt(512.W)
  val count = UInt(4.W)
}

/** A word of a packet, which is the number of its bytes, then its bytes in words of eight. */
class PacketWord extends Bundle {
  val data = UInt(64.W)
  val last = Bool()
}

/** Outputs elements of 8 bytes one after the other. */
class ElementSplitter extends Module {
  val in = IO(Flipped(Decoupled(new QueueElements)))
  val out = IO(Decoupled(UInt(64.W)))

  /** Drops the remaining elements. */
  val clear = IO(Input(Bool()))
  val empty = IO(Output(Bool()))

  private val words = Reg(UInt(512.W))
  private val left = RegInit(0.U(4.W))
  in.ready := left === 0.U || left === 1.U && out.ready
  out.valid := left =/= 0.U
  out.bits := words(63, 0)
  empty := left === 0.U
  when(out.fire) {
    words := words >> 64
    left := left - 1.U
  }
  when(in.fire) {
    words := in.bits.data
    left := in.bits.count
  }
  when(clear) { left := 0.U }
}

/** Collects words until a line is full, or a packet ends. */
class ElementGatherer extends Module {
  val in = IO(Flipped(Decoupled(new PacketWord)))
  val out = IO(Decoupled(new QueueElements))

  /** Number of elements of `out` that are taken; the others stay. */
  val takes = IO(Input(UInt(4.W)))
  val clear = IO(Input(Bool()))
  val empty = IO(Output(Bool()))

  private val words = Reg(Vec(8, UInt(64.W)))
  private val count = RegInit(0.U(4.W))
  private val ends = RegInit(false.B)

  // A word is added only when none are taken, so that the two events are never in one cycle.
  in.ready := count =/= 8.U && !ends && !out.fire
  out.valid := count === 8.U || ends
  out.bits.data := words.asUInt
  out.bits.count := count
  empty := count === 0.U
  when(in.fire) {
    words(count(2, 0)) := in.bits.data
    count := count + 1.U
    ends := in.bits.last
  }
  when(out.fire) {
    val left = count - takes
    words := (words.asUInt >> (takes ## 0.U(6.W))).asTypeOf(words)
    count := left
    when(left === 0.U) { ends := false.B }
  }
  when(clear) {
    count := 0.U
    ends := false.B
  }
}
