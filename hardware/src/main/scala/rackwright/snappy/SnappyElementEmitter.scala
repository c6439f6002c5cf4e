package rackwright.snappy

import chisel3._
import chisel3.util._

import rackwright.compression.FormatPort
import rackwright.lz77.encode.{EncoderParams, Sequence}
import rackwright.stream.ByteChunk

/** The output of one cycle: a piece of a copy, the head of a literal, some bytes of a literal; each may be empty. */
class EmittedPart(params: EncoderParams, literalReadBytes: Int) extends Bundle {
  val copyLength = UInt(EncoderParams.matchBits.W)
  val distance = UInt(EncoderParams.distanceBits.W)

  /** Length of the literal whose head leaves. */
  val headLength = UInt(params.literalBits.W)
  val literals = UInt(log2Ceil(literalReadBytes + 1).W)
}

/** Writes sequences as elements of the Snappy format, after a preamble with the length of the input.
  *
  * Per cycle one piece of a copy (up to 64 bytes of output for up to 3 bytes of element) or the last piece together
  * with the head and the first bytes of the literal after it; then `literalReadBytes` literals per cycle. Four stages:
  * selection of the output, its encoding, alignment of its bytes, and a queue with room for the parts in progress.
  *
  * @param params
  *   of the compressor around it.
  */
class SnappyElementEmitter(params: SnappyCompressorParams) extends Module {
  private val encoder = params.encoder
  private val literalReadBytes = params.literalReadBytes
  private val chunkBytes = params.chunkBytes
  require(
    literalReadBytes + 6 <= chunkBytes,
    s"$literalReadBytes literals and 6 bytes of heads don't fit in $chunkBytes"
  )
  private val waitingChunks = 8
  private val chunksUnderWay = 5

  val compressor = IO(new FormatPort(params))
  import compressor.{consume, literals, output, sequence}

  private val chunks = Module(new Queue(new ByteChunk(chunkBytes), waitingChunks))
  private val enable = RegNext(chunks.io.count <= (waitingChunks - chunksUnderWay).U, false.B)

  // First stage: the rest of a sequence, and the part of it that is output. A long copy is split so that no piece is
  // shorter than the 4 bytes of a short copy element.
  private val present = RegInit(false.B)
  private val rest = Reg(new Sequence(encoder))
  private val headDue = Reg(Bool())
  private val long = rest.matchLength > 64.U
  private val part = Wire(new EmittedPart(encoder, literalReadBytes))
  private val fewLiterals = rest.literals <= literalReadBytes.U
  part.copyLength := Mux(long, Mux(rest.matchLength >= 68.U, 64.U, 60.U), rest.matchLength)
  part.distance := rest.distance
  part.headLength := Mux(!long && headDue, rest.literals, 0.U)
  part.literals := Mux(long, 0.U, Mux(fewLiterals, rest.literals, literalReadBytes.U))
  private val step = present && enable
  private val complete = !long && fewLiterals

  sequence.ready := !present || (step && complete)
  when(step) {
    rest.matchLength := Mux(long, Mux(rest.matchLength >= 68.U, rest.matchLength - 64.U, rest.matchLength - 60.U), 0.U)
    when(!long) {
      rest.literals := rest.literals - literalReadBytes.U
      headDue := false.B
    }
  }
  when(sequence.ready) {
    present := sequence.valid
    rest := sequence.bits
    headDue := true.B
  }

  // Second stage: elements, and the literals that are offered now.
  private val encoding = RegNext(step, false.B)
  private val encoded = RegEnable(part, step)
  consume := Mux(encoding, encoded.literals, 0.U)

  // Third stage: side by side.
  private val joining = RegNext(encoding, false.B)
  private val copy = RegEnable(SnappyElementEmitter.copy(encoded.copyLength, encoded.distance), encoding)
  private val head = RegEnable(SnappyElementEmitter.literalHead(encoded.headLength), encoding)
  private val taken = RegEnable(literals, encoding)
  private val takenCount = RegEnable(encoded.literals, encoding)
  private val heads = copy.count +& head.count
  private val body = copy.bytes | (head.bytes << Cat(copy.count, 0.U(3.W))) | (taken << Cat(heads, 0.U(3.W)))
  private val bodyCount = heads +& takenCount

  // Fourth stage: the chunk; the preamble is the first.
  private val preamble = RegInit(0.U.asTypeOf(Valid(UInt(32.W))))
  private val preambleEncoded = RegNext(SnappyElementEmitter.varint(preamble.bits))
  private val preambleDue = RegNext(preamble.valid, false.B)
  private val chunkValid = RegNext(preambleDue || (joining && bodyCount =/= 0.U), false.B)
  private val chunkBytesNow =
    RegNext(Mux(preambleDue, preambleEncoded.bytes, body).pad(8 * chunkBytes)(8 * chunkBytes - 1, 0))
  private val chunkCount = RegNext(Mux(preambleDue, preambleEncoded.count, bodyCount))
  preamble.valid := false.B
  when(compressor.start.valid) { preamble := compressor.start }
  assert(!(preambleDue && joining), "an element overtakes the preamble")

  chunks.io.enq.valid := chunkValid
  chunks.io.enq.bits.data := chunkBytesNow.asTypeOf(chunks.io.enq.bits.data)
  chunks.io.enq.bits.count := chunkCount
  assert(!chunkValid || chunks.io.enq.ready, "a chunk has no place")
  output <> chunks.io.deq

  private val done = RegInit(false.B)
  when(step && complete && rest.last) { done := true.B }
  compressor.roomy := true.B
  compressor.busy := false.B
  compressor.finished := done && !encoding && !joining && !preamble.valid && !preambleDue && !chunkValid && chunks.io.count === 0.U
}

/** Pure encoders of the parts of the format (`format_description.txt` of the reference library). */
object SnappyElementEmitter {

  /** Some bytes, first byte lowest; those from `count` on are zero. */
  class Part(bytesMax: Int) extends Bundle {
    val bytes = UInt((8 * bytesMax).W)
    val count = UInt(log2Ceil(bytesMax + 1).W)
  }

  private def part(bytesMax: Int, bytes: UInt, count: UInt): Part = {
    val result = Wire(new Part(bytesMax))
    result.bytes := bytes
    result.count := count
    result
  }

  /** The copy element for `length` bytes (1 to 64; empty for 0): two bytes for a short and near one, else three. */
  def copy(length: UInt, distance: UInt): Part = {
    val short = length < 12.U && distance < 2048.U
    val shortBytes = Cat(distance(7, 0), distance(10, 8), (length - 4.U)(2, 0), 1.U(2.W))
    val longBytes = Cat(distance, (length - 1.U)(5, 0), 2.U(2.W))
    val none = length === 0.U
    part(3, Mux(none, 0.U, Mux(short, shortBytes, longBytes)), Mux(none, 0.U, Mux(short, 2.U, 3.U)))
  }

  /** The head of a literal of `length` bytes, up to 65536; empty for 0. */
  def literalHead(length: UInt): Part = {
    val less = (length - 1.U).pad(16)
    val count = Mux(length === 0.U, 0.U, Mux(length <= 60.U, 1.U, Mux(length <= 256.U, 2.U, 3.U)))
    val bytes = MuxLookup(count, 0.U(24.W))(
      Seq(
        1.U -> Cat(less(5, 0), 0.U(2.W)),
        2.U -> Cat(less(7, 0), (60 << 2).U(8.W)),
        3.U -> Cat(less(15, 0), (61 << 2).U(8.W))
      )
    )
    part(3, bytes, count)
  }

  /** `value` in seven bits per byte, low bits first. */
  def varint(value: UInt): Part = {
    val groups = (0 until 5).map(i => value.pad(35)(7 * i + 6, 7 * i))
    val more = (0 until 5).map(i => if (i == 4) false.B else (value >> (7 * i + 7)).orR)
    val bytes = groups.zip(more).map { case (bits, next) => Cat(next, bits) }
    part(5, Cat(bytes.reverse), PopCount(more) + 1.U)
  }
}
