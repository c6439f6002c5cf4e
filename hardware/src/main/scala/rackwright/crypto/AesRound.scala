package rackwright.crypto

import chisel3._

/** The control inputs of a stage of a round for the block in it. */
class RoundControl extends Bundle {

  /** Of the inverse cipher (FIPS 197, section 5.3). */
  val inverse = Bool()

  /** The block has fewer rounds, and passes unchanged. */
  val pass = Bool()
}

/** One round of AES, in either direction, in three stages: half a substitution, the other half, and the rest with the
  * key.
  *
  * Each stage executes the operation for its block; there is always a block, which may be invalid.
  */
class AesRound extends Module {
  val in = IO(Input(UInt(128.W)))
  val out = IO(Output(UInt(128.W)))

  /** For the block that enters each stage in this cycle. */
  val control = IO(Input(Vec(AesRound.stages, new RoundControl)))

  /** For the third stage. */
  val key = IO(Input(UInt(128.W)))
  val last = IO(Input(Bool()))

  private val middle = Reg(Vec(16, UInt(SubstitutionBox.middleBits.W)))
  private val bytes = Reg(Vec(16, UInt(8.W)))
  private val result = Reg(UInt(128.W))
  out := result

  for (i <- 0 until 16) {
    val byte = in(8 * i + 7, 8 * i)
    middle(i) := Mux(control(0).pass, byte, SubstitutionBox.first(byte, control(0).inverse))
    bytes(i) := Mux(control(1).pass, middle(i)(7, 0), SubstitutionBox.second(middle(i), control(1).inverse))
  }
  result := Mux(control(2).pass, bytes.asUInt, mixed)

  private def mixed: UInt = {
    val inverse = control(2).inverse
    val forward = VecInit((0 until 16).map(i => bytes((i + 4 * (i % 4)) % 16)))
    val backward = VecInit((0 until 16).map(i => bytes((i + 12 * (i % 4)) % 16)))
    val keyed = backward.asUInt ^ key
    // The inverse mixes after the addition of its key, by the same sums after a step that makes them their inverse.
    val columns = Mux(inverse, MixColumns.prepare(keyed), forward.asUInt)
    val unmixed = Mux(inverse, keyed, forward.asUInt ^ key)
    Mux(last, unmixed, MixColumns(columns) ^ Mux(inverse, 0.U, key))
  }
}

/** Its shape. */
object AesRound {
  val stages: Int = 3
}

/** Sums in the columns of a block (FIPS 197, sections 5.1.3 and 5.3.3). */
object MixColumns {

  /** Twice a number of the field. */
  private def double(byte: UInt): UInt = (byte(6, 0) ## false.B) ^ Mux(byte(7), 0x1b.U(8.W), 0.U(8.W))

  private def columns(block: UInt)(mix: Seq[UInt] => Seq[UInt]): UInt = VecInit(
    (0 until 4).flatMap(column => mix((0 until 4).map(row => block(32 * column + 8 * row + 7, 32 * column + 8 * row))))
  ).asUInt

  def apply(block: UInt): UInt = columns(block) { bytes =>
    (0 until 4).map { row =>
      val next = bytes((row + 1) % 4)
      double(bytes(row) ^ next) ^ next ^ bytes((row + 2) % 4) ^ bytes((row + 3) % 4)
    }
  }

  /** The input whose mixing is the inverse: each byte plus four times the sum of it and the opposite one. */
  def prepare(block: UInt): UInt = columns(block) { bytes =>
    val sums = (0 until 2).map(row => double(double(bytes(row) ^ bytes(row + 2))))
    (0 until 4).map(row => bytes(row) ^ sums(row % 2))
  }
}
