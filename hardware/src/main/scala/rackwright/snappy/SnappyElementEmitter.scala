package rackwright.snappy

import chisel3._
import chisel3.util._

import rackwright.lz77.{EncoderParams, Sequence}
import rackwright.memory.ByteChunk

/** Writes sequences as elements of the Snappy format, after a preamble with the length of the input.
  *
  * Per cycle one piece of a copy (up to 64 bytes of output for up to 3 bytes of element) or the last piece together
  * with the head and the first bytes of the literal behind it; then `literalReadBytes` literals per cycle.
  *
  * @param params
  *   sizes of the encoder in front.
  * @param chunkBytes
  *   width of the output.
  * @param literalReadBytes
  *   literals offered per cycle: half of `chunkBytes`, so that heads always fit beside them.
  */
class SnappyElementEmitter(params: EncoderParams, chunkBytes: Int, literalReadBytes: Int) extends Module {
  require(
    literalReadBytes + 6 <= chunkBytes,
    s"$literalReadBytes literals and 6 bytes of heads don't fit in $chunkBytes"
  )

  /** Begins a stream: bytes of input. */
  val length = IO(Flipped(Valid(UInt(32.W))))
  val sequence = IO(Flipped(Decoupled(new Sequence(params))))
  val literals = IO(Input(UInt((8 * literalReadBytes).W)))
  val consume = IO(Output(UInt(log2Ceil(literalReadBytes + 1).W)))
  val output = IO(Decoupled(new ByteChunk(chunkBytes)))

  /** The last sequence leaves in this cycle. */
  val finished = IO(Output(Bool()))

  private val preamble = RegInit(0.U.asTypeOf(Valid(UInt(32.W))))
  private val matchDone = RegInit(0.U(EncoderParams.matchBits.W))
  private val literalsDone = RegInit(0.U(params.literalBits.W))

  // A long copy is cut so that no piece is shorter than the 4 bytes of a short copy element.
  private val matchLeft = sequence.bits.matchLength - matchDone
  private val piece = Mux(matchLeft >= 68.U, 64.U, Mux(matchLeft > 64.U, 60.U, matchLeft))
  private val lastPiece = matchLeft <= 64.U
  private val copy = SnappyElementEmitter.copy(piece, sequence.bits.distance)

  private val literalsLeft = sequence.bits.literals - literalsDone
  private val literalsNow = Mux(
    lastPiece,
    Mux(literalsLeft > literalReadBytes.U, literalReadBytes.U, literalsLeft(log2Ceil(literalReadBytes), 0)),
    0.U
  )
  private val head = SnappyElementEmitter.literalHead(sequence.bits.literals)
  private val headCount = Mux(lastPiece && literalsDone === 0.U, head.count, 0.U)
  private val complete = lastPiece && literalsLeft === literalsNow

  private val beforeHead = Cat(copy.count, 0.U(3.W))
  private val beforeLiterals = Cat(copy.count +& headCount, 0.U(3.W))
  private val body = copy.bytes | (Mux(headCount === 0.U, 0.U, head.bytes) << beforeHead) | (literals << beforeLiterals)
  private val bodyCount = copy.count +& headCount +& literalsNow

  private val varint = SnappyElementEmitter.varint(preamble.bits)
  private val bytes = Mux(preamble.valid, varint.bytes, body).pad(8 * chunkBytes)

  output.valid := preamble.valid || sequence.valid && bodyCount =/= 0.U
  output.bits.count := Mux(preamble.valid, varint.count, bodyCount)
  for (i <- 0 until chunkBytes) output.bits.data(i) := bytes(8 * i + 7, 8 * i)

  private val step = sequence.valid && !preamble.valid && (output.ready || bodyCount === 0.U)
  sequence.ready := step && complete
  consume := Mux(step, literalsNow, 0.U)
  finished := sequence.fire && sequence.bits.last

  when(step) {
    matchDone := Mux(complete, 0.U, matchDone + piece)
    literalsDone := Mux(complete, 0.U, literalsDone + literalsNow)
  }
  when(output.fire) { preamble.valid := false.B }
  when(length.valid) { preamble := length }
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

  /** The copy element for `length` bytes (1 to 64; nothing for 0): two bytes for a short and near one, else three. */
  def copy(length: UInt, distance: UInt): Part = {
    val short = length < 12.U && distance < 2048.U
    val shortBytes = Cat(distance(7, 0), distance(10, 8), (length - 4.U)(2, 0), 1.U(2.W))
    val longBytes = Cat(distance, (length - 1.U)(5, 0), 2.U(2.W))
    val none = length === 0.U
    part(3, Mux(none, 0.U, Mux(short, shortBytes, longBytes)), Mux(none, 0.U, Mux(short, 2.U, 3.U)))
  }

  /** The head of a literal of `length` bytes, up to 65536; nothing for 0. */
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
