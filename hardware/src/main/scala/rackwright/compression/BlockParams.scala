package rackwright.compression

import chisel3.util._

import rackwright.lz77.encode.{EncoderLiterals, EncoderParams}

/** What compressors have in common whose format gathers blocks. */
trait BlockParams extends CompressorParams {

  /** KiB of input that a block stands for, at most: a power of two, 4 to `blockMost`. */
  def blockKib: Int
  def blockMost: Int

  require(
    isPow2(blockKib) && blockKib >= 4 && blockKib <= blockMost,
    s"block-kib is a power of two from 4 to $blockMost, not $blockKib"
  )

  def literalReadBytes: Int = 8

  val blockBytes: Int = blockKib * 1024

  /** A block is closed when it stands for so many bytes: one more sequence of the encoder would not be too much. */
  val blockLimit: Int = blockBytes - encoder.maxLiteralRun - (1 << EncoderParams.matchBits) -
    EncoderLiterals.reserve
}
