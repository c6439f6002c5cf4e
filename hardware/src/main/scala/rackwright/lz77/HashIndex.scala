package rackwright.lz77

import chisel3._

/** From four bytes to the index of a set in the hash table. Pure logic. */
object HashIndex {

  /** Knuth-style multiplier of the reference library's compressor. */
  private val multiplier = BigInt("1e35a7bd", 16)

  /** The bits that `bytes` (32 bits, first byte lowest) hash to, as many as an index has. */
  def hash(params: EncoderParams, bytes: UInt): UInt = params.hashFunction match {
    case HashFunction.Multiplicative =>
      val product = (bytes * multiplier.U(32.W))(31, 0)
      product(31, 32 - params.indexBits)
    case HashFunction.XorFold =>
      val folded = bytes ^ (bytes >> 11) ^ (bytes >> 18) ^ (bytes << 3)(31, 0)
      folded(params.indexBits - 1, 0)
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
