package rackwright.lz77

import chisel3._

/** From four bytes to the index of a set in the hash table. Pure logic. */
object HashIndex {

  /** Knuth-style multiplier of the reference library's compressor. */
  private val multiplier = BigInt("1e35a7bd", 16)

  /** The index for `bytes` (32 bits, first byte lowest).
    *
    * @param params
    *   sizes of the encoder.
    * @param unused
    *   how many of the built index bits the operation does not use; they are zero in the result.
    */
  def apply(params: EncoderParams, bytes: UInt, unused: UInt): UInt = {
    val bits = params.indexBits
    params.hashFunction match {
      case HashFunction.Multiplicative =>
        val product = (bytes * multiplier.U(32.W))(31, 0)
        product(31, 32 - bits) >> unused
      case HashFunction.XorFold =>
        val folded = bytes ^ (bytes >> 11) ^ (bytes >> 18) ^ (bytes << 3)(31, 0)
        folded(bits - 1, 0) & (((1 << bits) - 1).U(bits.W) >> unused)
    }
  }
}
