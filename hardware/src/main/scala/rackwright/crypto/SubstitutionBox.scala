package rackwright.crypto

import chisel3._

/** The box of FIPS 197, section 5.1.1, and its inverse (5.3.2), in two halves separated by registers. */
object SubstitutionBox {
  import TowerField.Linear

  /** Bits between the halves. */
  val middleBits: Int = 12

  /** The sum of bits i, i + 4, i + 5, i + 6 and i + 7 of a byte; the constant is added to it. */
  private val affine = Linear((0 until 8).map { i =>
    Seq(0, 1, 2, 3, 4).map(by => 1 << ((i + by) % 8)).sum
  })
  private val constant = 0x63

  private val intoForward = TowerField.toPairs
  private val intoInverse = TowerField.toPairs.after(affine.inverse)
  private val outOfForward = affine.after(TowerField.fromPairs)
  private val outOfInverse = TowerField.fromPairs

  /** A byte as a pair, and its norm. */
  def first(byte: UInt, inverse: Bool): UInt = {
    val pair = Mux(inverse, intoInverse(byte) ^ intoInverse(constant).U, intoForward(byte))
    val (high, low) = (pair(7, 4), pair(3, 0))
    TowerField.norm(high, low) ## high ## (high ^ low)
  }

  /** The byte for the result of `first`. */
  def second(middle: UInt, inverse: Bool): UInt = {
    val over = TowerField.reciprocal(middle(11, 8))
    val pair = TowerField.times(middle(7, 4), over) ## TowerField.times(middle(3, 0), over)
    Mux(inverse, outOfInverse(pair), outOfForward(pair) ^ constant.U)
  }
}
