package rackwright.lz77.encode

import chisel3._

/** From four bytes to the index of a set in the hash table. Pure logic. */
object HashIndex {

  /** Knuth-style multiplier of the reference library's compressor. */
  private val multiplier = BigInt("1e35a7bd", 16)

  /** The bits that `bytes` (32 bits, first byte lowest) hash to, as many as an index has. */
  def hash(params: EncoderParams, bytes: UInt): UInt = params.hashFunction match {
    case HashFunction.Multiplicative =>
      times(bytes, multiplier)(31, 32 - params.indexBits)
    case HashFunction.XorFold =>
      val folded = bytes ^ (bytes >> 11) ^ (bytes >> 18) ^ (bytes << 3)(31, 0)
      folded(params.indexBits - 1, 0)
  }

  /** The lower 32 bits of a product with a constant, of as few terms as there can be: the digits 1, 0 and -1 in a form
    * without two others than 0 beside one another. Half as many as there are ones in a binary number, and so a shorter
    * path.
    */
  private def times(value: UInt, constant: BigInt): UInt = {
    def shifted(place: Int): UInt = (value << place)(31, 0)
    val (added, subtracted) = signedDigits(constant, 0).partition { case (_, digit) => digit > 0 }
    val sum = added.map { case (place, _) => shifted(place) }.reduce(_ + _)
    subtracted.foldLeft(sum) { case (left, (place, _)) => left - shifted(place) }
  }

  /** Places and digits, each 1 or -1, of the non-adjacent form of a number. */
  private def signedDigits(number: BigInt, place: Int): Seq[(Int, Int)] =
    if (number == 0) Seq.empty
    else if (!number.testBit(0)) signedDigits(number >> 1, place + 1)
    else {
      val digit = if (number.testBit(1)) -1 else 1
      (place, digit) +: signedDigits((number - digit) >> 1, place + 1)
    }

  /** The index for what four bytes hash to.
    *
    * @param params
    *   sizes of the encoder.
    * @param unused
    *   how many of the built index bits the operation does not use; they are zero in the result.
    */
  def index(params: EncoderParams, hash: UInt, unused: UInt): UInt = params.hashFunction match {
    case HashFunction.Multiplicative => hash >> unused
    case HashFunction.XorFold => hash & (((1 << params.indexBits) - 1).U(params.indexBits.W) >> unused)
  }
}
