package rackwright.compression

import chisel3._
import chisel3.util._

import rackwright.access.OutputLine
import rackwright.lz77.decode.{DecoderDictionary, LiteralRun, SegmentGroup}
import rackwright.operation.SettingValues
import rackwright.port.{MemoryPort, Status}
import rackwright.stream.{ByteStream, StreamRange}

/** The interface between a format and the decompressor around it: bytes of the input enter, literals and segments
  * leave, part by part. A part (a frame, a stream, a member) has one checksum, and starts an output of its own.
  *
  * @param params
  *   of the decompressor.
  */
class DecompressorPort(params: DecompressorParams) extends Bundle {

  /** An operation begins; its source stays until the next one does. */
  val open = Flipped(Valid(new StreamRange))

  /** The present end of the source, if it may arrive in pieces. */
  val end = Option.when(params.streaming)(Input(new InputEnd))

  /** Settings of the operation, and whether software limited the room; constant during it. */
  val settings = Input(new SettingValues(params.settings))
  val limited = Input(Bool())

  /** Drops operations in progress: held from the end of an operation until nothing of it is left. */
  val clear = Input(Bool())

  /** The next bytes of the input, their position, and the position from which to continue instead. */
  val stream = Flipped(new ByteStream(params.port.bytes))
  val position = Input(UInt(64.W))
  val seek = Valid(UInt(64.W))

  /** The input is this range from here on. */
  val enter = Valid(new StreamRange)

  /** Other readers of the input, and whether all their requests have responses. */
  val memory = Vec(params.readers, new MemoryPort(params.port))
  val memoryIdle = Output(Bool())

  /** A part is ready to start; it starts with `begun`, at this byte of a line, and may produce `room` bytes. */
  val begin = Output(Bool())
  val begun = Input(Bool())
  val firstByte = Input(UInt(params.decoder.lineBits.W))
  val room = Input(UInt(32.W))

  /** With `begun`: the bytes before the part. */
  val before = Option.when(params.decoder.dictionary)(Output(new DecoderDictionary(params.decoder)))

  /** Literals, and segments that may need them; each while there is room. */
  val literals = Valid(new LiteralRun(params.decoder))
  val literalsRoomy = Input(Bool())
  val segments = Valid(new SegmentGroup(params.decoder))
  val roomy = Input(Bool())

  /** The input does not arrive fast enough. */
  val starved = Output(Bool())

  /** Lines of the output as memory takes them, for checksums; none leaves while they are not ready. */
  val line = Flipped(Valid(new OutputLine(params.port.bytes)))
  val lineReady = Output(Bool())

  /** Every line of the part has left; number of its bytes produced. */
  val drained = Input(Bool())
  val made = Input(UInt(32.W))

  /** The part is to be written: held until `closed`, which waits for `hashed`. */
  val close = Output(Bool())
  val closed = Input(Bool())
  val hashed = Output(Bool())

  /** The whole input was parsed. An error: stays until `clear`. */
  val finished = Output(Bool())
  val failed = Output(Bool())
  val failure = Output(UInt(Status.width.W))

  /** The position in the source of the current element, or of its end. */
  val element = Output(UInt(64.W))
}
