package rackwright.store

import chisel3._
import chisel3.util._

/** A word of a key: eight bytes, the first in the low bits. */
class KeyWord extends Bundle {
  val data = UInt(64.W)
  val first = Bool()

  /** The last word of the hash: the remaining bytes, with the length above them. */
  val last = Bool()
}

/** SipHash-2-4 (Aumasson and Bernstein 2012): a keyed hash, for which collisions cannot be found without the key.
  *
  * A word takes five cycles, each but the first with half a round; the last word takes nine more.
  */
class SipHash extends Module {
  val key = IO(Input(Vec(2, UInt(64.W))))
  val word = IO(Flipped(Decoupled(new KeyWord)))

  /** The hash; held until the next word is accepted. */
  val hash = IO(Valid(UInt(64.W)))

  private val state = Reg(Vec(4, UInt(64.W)))
  private val held = Reg(new KeyWord)

  /** Remaining half rounds, including those of the finalization. */
  private val left = RegInit(0.U(4.W))
  private val known = RegInit(false.B)
  private val result = Reg(UInt(64.W))
  private val folds = RegInit(false.B)

  word.ready := left === 0.U && !folds
  hash.valid := known
  hash.bits := result

  when(word.fire) {
    val begin = VecInit(SipHash.start.zipWithIndex.map { case (constant, i) => key(i % 2) ^ constant.U(64.W) })
    val before = Mux(word.bits.first, begin, state)
    state := before
    state(3) := before(3) ^ word.bits.data
    held := word.bits
    left := Mux(word.bits.last, SipHash.lastHalves.U, SipHash.wordHalves.U)
    known := false.B
  }.elsewhen(left =/= 0.U) {
    val next = SipHash.half(state, second = left(0))
    // After its rounds, the word is XORed into the state once more.
    val ofWord = left === Mux(held.last, (SipHash.lastHalves - SipHash.wordHalves + 1).U, 1.U)
    state := next
    when(ofWord) {
      state(0) := next(0) ^ held.data
      when(held.last) { state(2) := next(2) ^ 0xff.U }
    }
    left := left - 1.U
    folds := held.last && left === 1.U
  }
  when(folds) {
    result := state.reduce(_ ^ _)
    known := true.B
    folds := false.B
  }
}

object SipHash {

  /** Half rounds of a word, and of the last word with the finalization. */
  private val wordHalves: Int = 4
  private val lastHalves: Int = 12

  private val start: Seq[BigInt] =
    Seq("736f6d6570736575", "646f72616e646f6d", "6c7967656e657261", "7465646279746573").map(BigInt(_, 16))

  /** One half of a round: two parallel additions, and the operations that depend on each. */
  private def half(v: Vec[UInt], second: Bool): Vec[UInt] = {
    val next = Wire(Vec(4, UInt(64.W)))
    val (left, right) = (Mux(second, v(2), v(0)) + v(1), Mux(second, v(0), v(2)) + v(3))
    val one = Mux(second, v(1).rotateLeft(17), v(1).rotateLeft(13)) ^ left
    val three = Mux(second, v(3).rotateLeft(21), v(3).rotateLeft(16)) ^ right
    next(0) := Mux(second, right, left.rotateLeft(32))
    next(1) := one
    next(2) := Mux(second, left.rotateLeft(32), right)
    next(3) := three
    next
  }
}
