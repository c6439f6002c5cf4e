package rackwright.compression

import chisel3._
import chisel3.util._

import rackwright.access.OutputLine
import rackwright.lz77.decode.{DecoderDictionary, LiteralRun, SegmentGroup}
import rackwright.operation.SettingValues
import rackwright.port.{MemoryPort, Status}
import rackwright.stream.{ByteStream, StreamRange}

/** What a format sees of the decompressor around it: bytes of the input come in, literals and segments go out, part by
  * part. A part (a frame, a stream, a member) is what one checksum is for, and begins an output of its own.
  *
  * @param params
  *   of the decompressor.
  */
class DecompressorPort(params: DecompressorParams) extends Bundle {

  /** An operation begins; its source stays until the next one does. */
  val open = Flipped(Valid(new StreamRange))

  /** How far the source goes by now, where it may come in pieces. */
  val end = Option.when(params.streaming)(Input(new InputEnd))

  /** Settings of the operation, and whether software said how much room there is; as long. */
  val settings = Input(new SettingValues(params.settings))
  val limited = Input(Bool())

  /** Forgets what is under way: held from the end of an operation until nothing of it is left. */
  val clear = Input(Bool())

  /** The next bytes of the input, where they are, and where to go on instead. */
  val stream = Flipped(new ByteStream(params.port.bytes))
  val position = Input(UInt(64.W))
  val seek = Valid(UInt(64.W))

  /** The input is this range from here on. */
  val enter = Valid(new StreamRange)

  /** What else reads the input, and whether all of it was answered. */
  val memory = Vec(params.readers, new MemoryPort(params.port))
  val memoryIdle = Output(Bool())

  /** A part wants to begin; it does with `begun`, at this byte of a line, and may make `room` bytes. */
  val begin = Output(Bool())
  val begun = Input(Bool())
  val firstByte = Input(UInt(params.decoder.lineBits.W))
  val room = Input(UInt(32.W))

  /** With `begun`: what stands before the part. */
  val before = Option.when(params.decoder.dictionary)(Output(new DecoderDictionary(params.decoder)))

  /** Literals, and segments that may want them; each while there is room. */
  val literals = Valid(new LiteralRun(params.decoder))
  val literalsRoomy = Input(Bool())
  val segments = Valid(new SegmentGroup(params.decoder))
  val roomy = Input(Bool())

  /** The input does not come fast enough. */
  val starved = Output(Bool())

  /** Lines of the output as memory takes them, for checksums; none leaves while they are not ready. */
  val line = Flipped(Valid(new OutputLine(params.port.bytes)))
  val lineReady = Output(Bool())

  /** Every line of the part has left; bytes of it that were made. */
  val drained = Input(Bool())
  val made = Input(UInt(32.W))

  /** The part is to be written out: held until `closed`, which waits for `hashed`. */
  val close = Output(Bool())
  val closed = Input(Bool())
  val hashed = Output(Bool())

  /** The whole input was taken apart. Something is wrong: stays until `clear`. */
  val finished = Output(Bool())
  val failed = Output(Bool())
  val failure = Output(UInt(Status.width.W))

  /** Where what is under way begins in the source, or where its end is. */
  val element = Output(UInt(64.W))
}
