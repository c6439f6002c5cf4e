package rackwright.crypto

import chisel3._
import chisel3.util._

/** A key as commands give it. */
class CipherKey extends Bundle {

  /** The first byte in the low bits. */
  val bytes = UInt(256.W)

  /** [[KeySize]]. */
  val size = UInt(2.W)

  /** Round keys are needed in the order of the inverse cipher. */
  val inverse = Bool()
}

/** Sizes of keys by number: 16, 24 and 32 bytes. */
object KeySize {

  /** Words of a key (Nk of FIPS 197). */
  val words: Seq[Int] = Seq(4, 6, 8)

  /** Rounds that a block with this key size passes unchanged, of [[CipherPipeline.rounds]]. */
  val passed: Seq[Int] = words.map(count => CipherPipeline.rounds - (count + 6))

  def choose(size: UInt, values: Seq[Int], bits: Int): UInt =
    MuxLookup(size, values.last.U(bits.W))(values.init.zipWithIndex.map { case (value, i) => i.U -> value.U(bits.W) })
}

/** A round key for one place of a cipher pipeline. */
class RoundKey extends Bundle {

  /** The round to which it belongs; [[CipherPipeline.rounds]] for the key added before the first. */
  val place = UInt(log2Ceil(CipherPipeline.rounds + 1).W)
  val bits = UInt(128.W)
}

/** Computes the round keys of a key (FIPS 197, section 5.2), one word per cycle, two cycles if it is substituted. */
class KeyExpander extends Module {

  /** Taken when the one before is done. */
  val key = IO(Flipped(Decoupled(new CipherKey)))
  val round = IO(Valid(new RoundKey))

  /** All round keys have been sent. */
  val done = IO(Output(Bool()))

  private val busy = RegInit(false.B)
  private val wanted = Reg(new CipherKey)
  private val words = KeySize.choose(wanted.size, KeySize.words, 4)

  /** Number of words, the same modulo those of a key, and the latest eight, the last one first. */
  private val count = Reg(UInt(6.W))
  private val phase = Reg(UInt(3.W))
  private val past = Reg(Vec(8, UInt(32.W)))
  private val constant = Reg(UInt(8.W))
  private val copies = Reg(Bool())

  private val begins = phase === 0.U
  private val substitutes = !copies && (begins || wanted.size === (KeySize.words.size - 1).U && phase === 4.U)
  private val halfway = RegInit(false.B)
  private val middle = Reg(Vec(4, UInt(SubstitutionBox.middleBits.W)))
  private def bytes(word: UInt): Seq[UInt] = (0 until 4).map(i => word(8 * i + 7, 8 * i))
  private val latest = past.head
  private val turned = Mux(begins, latest(7, 0) ## latest(31, 8), latest)
  for ((half, byte) <- middle.zip(bytes(turned))) { half := SubstitutionBox.first(byte, false.B) }
  private val substituted = VecInit(middle.map(SubstitutionBox.second(_, false.B))).asUInt

  private val before = KeySize.words.zipWithIndex.map { case (count, size) => size.U -> past(count - 1) }
  private val added = Mux(substitutes, substituted ^ Mux(begins, constant, 0.U), latest)
  private val own = wanted.bytes(31, 0)
  private val word = Mux(copies, own, MuxLookup(wanted.size, past(7))(before) ^ added)

  private val makes = busy && (!substitutes || halfway)
  halfway := busy && substitutes && !halfway
  private val lastWord = count === ((words + 7.U) << 2) - 1.U
  when(makes) {
    past := VecInit(word +: past.init)
    count := count + 1.U
    wanted.bytes := wanted.bytes >> 32
    val wraps = phase === words - 1.U
    phase := Mux(wraps, 0.U, phase + 1.U)
    when(wraps) { copies := false.B }
    when(!copies && begins) { constant := (constant(6, 0) ## false.B) ^ Mux(constant(7), 0x1b.U, 0.U) }
    when(lastWord) { busy := false.B }
  }

  private val index = count(5, 2)
  private val rounds = words + 6.U
  private val top = CipherPipeline.rounds.U
  private val first = Mux(wanted.inverse, index === rounds, index === 0.U)
  private val made = Wire(new RoundKey)
  made.place := Mux(first, top, Mux(wanted.inverse, (top - 1.U) - index, (top - 1.U) - (rounds - index)))
  made.bits := word ## past(0) ## past(1) ## past(2)
  round.valid := RegNext(makes && count(1, 0) === 3.U, false.B)
  round.bits := RegNext(made)
  done := !busy && !round.valid

  key.ready := done
  when(key.fire) {
    busy := true.B
    wanted := key.bits
    count := 0.U
    phase := 0.U
    constant := 1.U
    copies := true.B
  }
}
