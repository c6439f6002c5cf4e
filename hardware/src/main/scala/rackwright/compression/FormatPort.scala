package rackwright.compression

import chisel3._
import chisel3.util._

import rackwright.lz77.encode.Sequence
import rackwright.operation.SettingValues
import rackwright.stream.ByteChunk

/** The interface between a format and the compressor around it: sequences and literals enter, bytes of the format
  * leave.
  *
  * The boxes of a format are held in reset between operations, so that each starts in the same state.
  *
  * @param params
  *   of the compressor.
  */
class FormatPort(params: CompressorParams) extends Bundle {

  /** An operation begins: bytes of input. The first sequence arrives later. */
  val start = Flipped(Valid(UInt(32.W)))

  /** Settings of the operation, from `start` on. */
  val settings = Input(new SettingValues(params.settings))

  /** The encoder's results; the literals of a sequence are available when it is. */
  val sequence = Flipped(Decoupled(new Sequence(params.encoder)))

  /** The next literals, first byte lowest, and the number of them that are taken. */
  val literals = Input(UInt((8 * params.literalReadBytes).W))
  val consume = Output(UInt(log2Ceil(params.literalReadBytes + 1).W))

  /** The input as the encoder takes it, without a dictionary: the first `inputCount` bytes, up to eight. */
  val input = Input(UInt(64.W))
  val inputCount = Input(UInt(log2Ceil(params.streamBytes + 1).W))

  /** Input may be taken. */
  val roomy = Output(Bool())
  val output = Decoupled(new ByteChunk(params.chunkBytes))

  /** The last byte has been handed on. */
  val finished = Output(Bool())

  /** State for the next operation is being prepared. */
  val busy = Output(Bool())
}
