package rackwright.queue

import chisel3._
import chisel3.util._

/** Consecutive elements of a queue in a line, the first one in the low bits. */
class QueueElements extends Bundle {
  val data = UInt(512.W)
  val count = UInt(4.W)
}

/** Two consecutive words, or one. */
class WordPair extends Bundle {
  val first = UInt(64.W)
  val second = UInt(64.W)
  val two = Bool()
}

/** Words of a packet, which is the number of its bytes, then its bytes in words of eight. */
class PacketWord extends WordPair {

  /** Its last word is among them. */
  val last = Bool()
}

/** Outputs elements of 8 bytes one after the other, or two at a time. */
class ElementSplitter extends Module {
  val in = IO(Flipped(Decoupled(new QueueElements)))
  val out = IO(Decoupled(new WordPair))

  /** Both of two elements are taken. */
  val both = IO(Input(Bool()))

  /** Drops the remaining elements. */
  val clear = IO(Input(Bool()))
  val empty = IO(Output(Bool()))

  private val words = Reg(UInt(512.W))
  private val left = RegInit(0.U(4.W))
  private val takesTwo = both && out.bits.two
  out.valid := left =/= 0.U
  out.bits.first := words(63, 0)
  out.bits.second := words(127, 64)
  out.bits.two := left > 1.U
  in.ready := left === 0.U || out.ready && Mux(takesTwo, left === 2.U, left === 1.U)
  empty := left === 0.U
  when(out.fire) {
    words := Mux(takesTwo, words >> 128, words >> 64)
    left := left - Mux(takesTwo, 2.U, 1.U)
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

  /** Both of two words are taken. */
  val both = IO(Output(Bool()))
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
  both := count =/= 7.U
  out.valid := count === 8.U || ends
  out.bits.data := words.asUInt
  out.bits.count := count
  empty := count === 0.U
  private val takesTwo = in.bits.two && both
  when(in.fire) {
    words(count(2, 0)) := in.bits.first
    when(takesTwo) { words(count(2, 0) + 1.U) := in.bits.second }
    count := count + Mux(takesTwo, 2.U, 1.U)
    ends := in.bits.last && (takesTwo || !in.bits.two)
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
