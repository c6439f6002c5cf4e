package rackwright.protobuf

import chisel3._
import chisel3.util._

import rackwright.contract.Status

/** Bytes to write below those written before, the end of a request, or both. */
class DescendingChunk(beatBytes: Int) extends Bundle {

  /** Bytes `offset` to `offset + count - 1` of `data`; none for an end alone. */
  val data = UInt((8 * beatBytes).W)
  val offset = UInt(log2Ceil(beatBytes).W)
  val count = UInt(log2Ceil(beatBytes + 1).W)

  /** After them the request ends, with `status`. */
  val finishes = Bool()
  val status = UInt(Status.width.W)
}

/** Makes bytes of numbers, tags and lengths; counts bytes, which is where lengths come from. */
class SerializerEncoder(params: SerializerParams) extends Module {
  private val beatBytes = params.portBytes

  /** What to encode. */
  val step = IO(Flipped(Decoupled(new OutputStep(beatBytes))))

  /** Its bytes. */
  val chunk = IO(Decoupled(new DescendingChunk(beatBytes)))

  /** The writer has no more room for the request that it is at; and which of two that is. */
  val full = IO(Input(Bool()))
  val writerTurn = IO(Input(Bool()))

  /** The request at hand won't end with ok; there is no sense in walking on. */
  val failed = IO(Output(Bool()))

  /** Requests that ended here, modulo a small number. */
  val request = IO(Output(UInt(SerializerEncoder.requestBits.W)))

  private val bits = step.bits
  private val piece = bits.piece
  private val count = RegInit(0.U(32.W))
  private val fieldStart = Reg(UInt(32.W))
  private val starts = Mem(params.depth, UInt(32.W))
  private val level = RegInit(0.U(log2Ceil(params.depth + 1).W))
  private val status = RegInit(Status.ok)
  private val ended = RegInit(0.U(SerializerEncoder.requestBits.W))
  failed := status =/= Status.ok || (full && writerTurn === ended(0))
  request := ended

  private val start = Mux(bits.closes, starts.read(level - 1.U), Mux(bits.first, count, fieldStart))
  private val isPrefix = piece.kind === PieceKind.prefix
  private val isBare = piece.kind === PieceKind.bare
  private val isBytes = piece.kind === PieceKind.bytes
  private val isPrefixed = isBytes && piece.prefixed
  private val isNothing = piece.kind === PieceKind.nothing
  private val own = Wire(new TaggedNumber)
  own.tag := piece.tag
  own.number := piece.number
  when(isPrefix || isPrefixed) {
    own.number.form := NumberForm.varint
    own.number.value := count - start + Mux(isPrefixed, piece.count, 0.U)
  }
  private val (encoded, encodedBytes) = SerializerEncoder.number(own, isBare)
  private val (beforeIt, beforeBytes) = SerializerEncoder.number(piece.before.bits, isBare)
  private val hasTwo = FieldPiece.mayHoldTwo(beatBytes).B && piece.before.valid && !isPrefix && !isBytes
  private val both = (encoded << Cat(beforeBytes, 0.U(3.W))) | beforeIt
  private val numbers = Mux(hasTwo, both, encoded)(8 * beatBytes.min(2 * SerializerEncoder.mostBytes) - 1, 0)

  private val beside = (piece.data >> Cat(piece.offset, 0.U(3.W))) << Cat(encodedBytes, 0.U(3.W))
  private val prefixedBytes = (beside | encoded)(8 * beatBytes - 1, 0)
  chunk.bits.data := Mux(isPrefixed, prefixedBytes, Mux(isBytes, piece.data, numbers))
  chunk.bits.offset := Mux(isBytes && !isPrefixed, piece.offset, 0.U)
  chunk.bits.count := MuxCase(
    encodedBytes +& Mux(hasTwo, beforeBytes, 0.U),
    Seq(isNothing -> 0.U, isPrefixed -> (piece.count + encodedBytes), isBytes -> piece.count)
  )
  private val after = count +& chunk.bits.count
  private val grown = Mux(piece.status === Status.ok && after(31), Status.unsupported, piece.status)
  private val newStatus = Mux(status === Status.ok, grown, status)
  chunk.bits.finishes := bits.finishes
  chunk.bits.status := newStatus

  private val writes = bits.finishes || (!isNothing && !failed)
  chunk.valid := step.valid && writes
  step.ready := chunk.ready || !writes
  when(step.fire) {
    count := after
    status := newStatus
    when(bits.first) { fieldStart := count }
    when(bits.opens) {
      starts.write(level, count)
      level := level + 1.U
    }
    when(bits.closes) { level := level - 1.U }
    when(bits.finishes) {
      ended := ended + 1.U
      count := 0.U
      level := 0.U
      status := Status.ok
    }
  }
}

/** How varints are written. */
object SerializerEncoder {

  /** Bits that tell requests apart of which some are walked and some are written. */
  val requestBits: Int = 6

  /** Bytes of a number and its tag, at most. */
  val mostBytes: Int = 15

  /** Bytes of a tag and a length, at most. */
  val mostPrefixBytes: Int = 10

  /** The bytes of a number, after its tag unless it is `bare`, the first one lowest, and how many there are. */
  def number(tagged: TaggedNumber, bare: Bool): (UInt, UInt) = {
    val value = tagged.number.value
    val asVarint = varint(value, 10)
    val bytes = Mux(tagged.number.form === NumberForm.varint, asVarint._1, value)
    val count = MuxLookup(tagged.number.form, asVarint._2)(Seq(NumberForm.fixed32 -> 4.U, NumberForm.fixed64 -> 8.U))
    val tag = varint(tagged.tag, 5)
    val tagBytes = Mux(bare, 0.U, tag._2)
    val all = (bytes << Cat(tagBytes, 0.U(3.W))) | Mux(bare, 0.U, tag._1)
    (all(8 * mostBytes - 1, 0), (count +& tagBytes)(3, 0))
  }

  /** The bytes of `value` as a varint, the first one lowest, and how many there are, at most `most`. */
  def varint(value: UInt, most: Int): (UInt, UInt) = {
    val padded = value.pad(7 * most)
    val groups = Seq.tabulate(most)(i => padded(7 * i + 6, 7 * i))
    val more = Seq.tabulate(most)(i => if (i == most - 1) false.B else (padded >> (7 * (i + 1))).orR)
    val bytes = groups.zip(more).map { case (group, more) => more ## group }
    (Cat(bytes.reverse), PriorityEncoder(VecInit(more.map(!_)).asUInt) +& 1.U)
  }
}
