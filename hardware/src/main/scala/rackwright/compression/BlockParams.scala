package rackwright.compression

import chisel3.util._

import rackwright.lz77.encode.{EncoderLiterals, EncoderParams}

/** The common parameters of compressors whose format has blocks. */
trait BlockParams extends CompressorParams {

  /** Maximum KiB of input of a block: a power of two, 4 to `blockMost`. */
  def blockKib: Int
  def blockMost: Int

  require(
    isPow2(blockKib) && blockKib >= 4 && blockKib <= blockMost,
    s"block-kib is a power of two from 4 to $blockMost, not $blockKib"
  )

  def literalReadBytes: Int = 8

  val blockBytes: Int = blockKib * 1024

  /** A block is closed when it represents this number of bytes: one more sequence of the encoder would still fit. */
  val blockLimit: Int = blockBytes - encoder.maxLiteralRun - (1 << EncoderParams.matchBits) -
    EncoderLiterals.reserve
}
