package rackwright.daronpon

import chisel3._
import chisel3.util._

/** A word of a message to hash. */
class HashedWord extends Bundle {
  val data = UInt(64.W)
  val last = Bool()
}

/** SipHash-2-4 (Aumasson and Bernstein 2012, section 2), half a round in a cycle: five cycles for each word of eight
  * bytes, nine more for the result.
  */
class SipHash extends Module {
  val key = IO(Input(UInt(128.W)))

  /** Starts a message, and abandons any other. */
  val start = IO(Input(Bool()))
  val in = IO(Flipped(Decoupled(new HashedWord)))

  /** The hash of the message is valid; held until the next start. */
  val done = IO(Output(Bool()))
  val hash = IO(Output(UInt(64.W)))

  private val v = Reg(Vec(4, UInt(64.W)))
  private val word = Reg(UInt(64.W))
  private val last = Reg(Bool())
  private val finishing = RegInit(false.B)
  private val ended = RegInit(false.B)
  private val halves = RegInit(0.U(4.W))
  private val busy = halves =/= 0.U

  in.ready := !busy && !finishing && !ended
  done := ended
  hash := v.reduce(_ ^ _)

  private def half(a: UInt, b: UInt, c: UInt, d: UInt, first: Int, second: Int): Seq[UInt] = {
    val ab = (a + b)(63, 0)
    val cd = (c + d)(63, 0)
    Seq(ab, b.rotateLeft(first) ^ ab, cd, d.rotateLeft(second) ^ cd)
  }

  private val upper = half(v(0), v(1), v(2), v(3), 13, 16)
  private val lower = half(v(2), v(1), v(0), v(3), 17, 21)
  private val stepped = Mux(
    halves(0),
    VecInit(lower(2), lower(1), lower(0).rotateLeft(32), lower(3)),
    VecInit(upper(0).rotateLeft(32), upper(1), upper(2), upper(3))
  )

  when(in.fire) {
    word := in.bits.data
    last := in.bits.last
    v(3) := v(3) ^ in.bits.data
    halves := 4.U
  }.elsewhen(busy) {
    v := stepped
    halves := halves - 1.U
    when(halves === 1.U) {
      when(finishing) {
        finishing := false.B
        ended := true.B
      }.otherwise {
        v(0) := stepped(0) ^ word
        finishing := last
      }
    }
  }.elsewhen(finishing) {
    v(2) := v(2) ^ 0xff.U
    halves := 8.U
  }
  when(start) {
    v(0) := key(63, 0) ^ SipHash.initial(0)
    v(1) := key(127, 64) ^ SipHash.initial(1)
    v(2) := key(63, 0) ^ SipHash.initial(2)
    v(3) := key(127, 64) ^ SipHash.initial(3)
    halves := 0.U
    finishing := false.B
    ended := false.B
  }
}

/** Constants of SipHash. */
object SipHash {

  /** The initial state for the all-zero key: "somepseudorandomlygeneratedbytes". */
  val initial: Seq[UInt] =
    Seq("h736f6d6570736575", "h646f72616e646f6d", "h6c7967656e657261", "h7465646279746573").map(_.U(64.W))

  /** The last word of a message: its remaining bytes, and its length in the highest byte. */
  def lastWord(half: UInt, bytes: UInt): UInt = Cat(bytes(7, 0), 0.U(24.W), half(31, 0))
}
