package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.memory.RegisterFile
import rackwright.port.Status

/** Bytes to write below the previous ones, the end of a request, or both. */
class DescendingChunk(beatBytes: Int) extends Bundle {

  /** Bytes `offset` to `offset + count - 1` of `data`; none if there is only an end. */
  val data = UInt((8 * beatBytes).W)
  val offset = UInt(log2Ceil(beatBytes).W)
  val count = UInt(log2Ceil(beatBytes + 1).W)

  /** The request ends after them, with `status`. */
  val finishes = Bool()
  val status = UInt(Status.width.W)
}

/** Encodes numbers, tags and lengths; the lengths of sub-messages are differences of a byte counter.
  *
  * Pipeline stages: varints and their lengths; tags in front of numbers; the byte counter, where a length computed from
  * it takes two more cycles; concatenation of two numbers, or of a length and a string.
  */
class SerializerEncoder(params: SerializerParams) extends Module {
  import SerializerEncoder.State
  private val beatBytes = params.portBytes

  /** What to encode. */
  val step = IO(Flipped(Decoupled(new OutputStep(beatBytes))))

  /** Its encoding. */
  val chunk = IO(Decoupled(new DescendingChunk(beatBytes)))

  /** The output buffer of the writer's current request is full; the number of that request, modulo a small power of
    * two.
    */
  val full = IO(Input(Bool()))
  val writerTurn = IO(Input(UInt(DescendingWriter.groupBits.W)))

  /** The current request cannot end with `ok`; the walk should be abandoned. */
  val failed = IO(Output(Bool()))

  /** Number of requests that have ended here, modulo a small power of two. */
  val request = IO(Output(UInt(SerializerEncoder.requestBits.W)))

  private val stages = Module(new SerializerNumbers(beatBytes))
  stages.step <> step
  private val numbered = stages.numbered
  private val bits = numbered.bits
  private val piece = bits.step.piece
  private val count = RegInit(0.U(32.W))
  private val fieldStart = Reg(UInt(32.W))
  private val starts = RegisterFile(params.depth, UInt(32.W))
  private val level = RegInit(0.U(log2Ceil(params.depth + 1).W))
  private val status = RegInit(Status.ok)
  private val ended = RegInit(0.U(SerializerEncoder.requestBits.W))
  private val fails = status =/= Status.ok || (full && writerTurn === ended(DescendingWriter.groupBits - 1, 0))
  failed := RegNext(fails, false.B)
  request := RegNext(ended)

  // A length that is the difference of two counts, then its encoding.
  private val state = RegInit(State.known)
  private val outer = Reg(UInt(32.W))
  private val start = Mux(bits.step.closes, outer, Mux(bits.step.first, count, fieldStart))
  private val difference = RegEnable(count - start, state === State.known)
  private val lengthBytes = Reg(new EncodedNumber)
  private val lengthTotal = Reg(UInt(log2Ceil(beatBytes + 1).W))
  when(state === State.known && numbered.valid && bits.wantsLength) { state := State.subtracted }
  when(state === State.subtracted) {
    val (bytes, bytesCount) = SerializerEncoder.varint(difference + Mux(bits.isBytes, piece.count, 0.U), 5)
    lengthBytes.bytes := bytes
    lengthBytes.count := bytesCount
    lengthTotal := bytesCount +& bits.tag.count +& Mux(bits.isPrefixed, piece.count, 0.U)
    state := State.encoded
  }
  private val own = Mux(bits.wantsLength, SerializerEncoder.tagged(bits.tag, lengthBytes), bits.own)
  private val isReady = !bits.wantsLength || state === State.encoded

  private val placed = Wire(Decoupled(new PlacedNumber(beatBytes)))
  private val bytes = Mux(bits.wantsLength, lengthTotal, bits.bytes)
  private val after = count +& bytes
  private val grown = Mux(piece.status === Status.ok && after(31), Status.unsupported, piece.status)
  private val newStatus = Mux(status === Status.ok, grown, status)
  placed.bits.own := own
  placed.bits.before := bits.before
  placed.bits.hasTwo := bits.hasTwo
  placed.bits.isBytes := bits.isBytes
  placed.bits.isPrefixed := bits.isPrefixed
  placed.bits.chunk.data := piece.data
  placed.bits.chunk.offset := Mux(bits.isBytes && !bits.isPrefixed, piece.offset, 0.U)
  placed.bits.chunk.count := bytes
  placed.bits.chunk.finishes := bits.step.finishes
  placed.bits.chunk.status := newStatus

  private val writes = bits.step.finishes || (!bits.isNothing && !fails)
  placed.valid := numbered.valid && isReady && writes
  numbered.ready := isReady && (placed.ready || !writes)
  chunk <> SerializerEncoder.beside(Queue(placed, 2))
  when(numbered.fire) {
    state := State.known
    count := after
    status := newStatus
    when(bits.step.first) { fieldStart := count }
    when(bits.step.opens) {
      starts.write(level, count)
      outer := count
      level := level + 1.U
    }
    when(bits.step.closes) {
      outer := starts.read(level - 2.U)
      level := level - 1.U
    }
    when(bits.step.finishes) {
      ended := ended + 1.U
      count := 0.U
      level := 0.U
      status := Status.ok
    }
  }
}

/** An encoded number or tag, the first byte lowest. */
class EncodedNumber extends Bundle {
  val bytes = UInt((8 * SerializerEncoder.mostBytes).W)
  val count = UInt(4.W)
}

/** A step with encoded numbers, except for a length that is not known yet. */
class NumberedStep(beatBytes: Int) extends Bundle {
  val step = new OutputStep(beatBytes)
  val own = new EncodedNumber
  val before = new EncodedNumber

  /** The tag that comes before the length. */
  val tag = new EncodedNumber
  val wantsLength = Bool()
  val hasTwo = Bool()
  val isNothing = Bool()
  val isBytes = Bool()

  /** Tag and length precede the bytes, whose data start at byte 0. */
  val isPrefixed = Bool()

  /** Total length, unless a length is not known yet. */
  val bytes = UInt(log2Ceil(beatBytes + 1).W)
}

/** The parts of a chunk, before they are concatenated. */
class PlacedNumber(beatBytes: Int) extends Bundle {
  val chunk = new DescendingChunk(beatBytes)
  val own = new EncodedNumber
  val before = new EncodedNumber
  val hasTwo = Bool()
  val isBytes = Bool()
  val isPrefixed = Bool()
}

/** Encodes the known parts of steps: numbers in one stage, the tags in front of them in the next. */
class SerializerNumbers(beatBytes: Int) extends Module {
  val step = IO(Flipped(Decoupled(new OutputStep(beatBytes))))
  val numbered = IO(Decoupled(new NumberedStep(beatBytes)))

  private class Parts extends Bundle {
    val tag = new EncodedNumber
    val value = new EncodedNumber
  }
  private class Encoded extends Bundle {
    val step = new OutputStep(beatBytes)
    val own = new Parts
    val before = new Parts
  }
  private def parts(tagged: TaggedNumber, bare: Bool): Parts = {
    val parts = Wire(new Parts)
    parts.value := SerializerEncoder.value(tagged.number)
    parts.tag := SerializerEncoder.tag(tagged.tag, bare)
    parts
  }

  private val taken = Queue(step, 2)
  private val encoded = Wire(Decoupled(new Encoded))
  private val piece = taken.bits.piece
  private val isBare = piece.kind === PieceKind.bare
  private val own = Wire(new TaggedNumber)
  own.tag := piece.tag
  own.number := piece.number
  // The length of a field that consists of one piece.
  when(piece.kind === PieceKind.bytes) {
    own.number.form := NumberForm.varint
    own.number.value := piece.count
  }
  encoded.valid := taken.valid
  taken.ready := encoded.ready
  encoded.bits.step := taken.bits
  encoded.bits.own := parts(own, isBare)
  encoded.bits.before := parts(piece.before.bits, isBare)

  private val combining = Queue(encoded, 1, pipe = true)
  private val combined = Wire(Decoupled(new NumberedStep(beatBytes)))
  private val now = combining.bits
  private val kind = now.step.piece.kind
  combined.valid := combining.valid
  combining.ready := combined.ready
  combined.bits.step := now.step
  combined.bits.own := SerializerEncoder.tagged(now.own.tag, now.own.value)
  combined.bits.before := SerializerEncoder.tagged(now.before.tag, now.before.value)
  combined.bits.tag := now.own.tag
  combined.bits.isNothing := kind === PieceKind.nothing
  combined.bits.isBytes := kind === PieceKind.bytes
  combined.bits.isPrefixed := kind === PieceKind.bytes && now.step.piece.prefixed
  combined.bits.wantsLength := kind === PieceKind.prefix || (combined.bits.isPrefixed && !now.step.first)
  combined.bits.hasTwo := FieldPiece.mayHoldTwo(beatBytes).B && now.step.piece.before.valid &&
    kind =/= PieceKind.prefix && kind =/= PieceKind.bytes
  private val (ownBytes, beforeBytes) = (combined.bits.own.count, combined.bits.before.count)
  combined.bits.bytes := MuxCase(
    ownBytes +& Mux(combined.bits.hasTwo, beforeBytes, 0.U),
    Seq(
      combined.bits.isNothing -> 0.U,
      combined.bits.isPrefixed -> (now.step.piece.count +& ownBytes),
      combined.bits.isBytes -> now.step.piece.count
    )
  )
  when(combined.bits.isPrefixed) {
    combined.bits.step.piece.data := now.step.piece.data >> Cat(now.step.piece.offset, 0.U(3.W))
  }
  numbered <> Queue(combined, 2)
}

/** The encoding of varints. */
object SerializerEncoder {

  /** Width of request numbers, which distinguish the requests between walk and writer. */
  val requestBits: Int = 6

  /** Maximum length of a number with its tag. */
  val mostBytes: Int = 15

  /** Maximum length of a tag and a length. */
  val mostPrefixBytes: Int = 10

  /** `known` accepts steps; a length that is not known yet is computed in `subtracted`, then `encoded`. */
  object State extends ChiselEnum {
    val known, subtracted, encoded = Value
  }

  private def encoded(bytes: UInt, count: UInt): EncodedNumber = {
    val number = Wire(new EncodedNumber)
    number.bytes := bytes
    number.count := count
    number
  }

  /** The encoding of a number. */
  def value(number: WireNumber): EncodedNumber = {
    val asVarint = varint(number.value, 10)
    val bytes = Mux(number.form === NumberForm.varint, asVarint._1, number.value)
    encoded(bytes, MuxLookup(number.form, asVarint._2)(Seq(NumberForm.fixed32 -> 4.U, NumberForm.fixed64 -> 8.U)))
  }

  /** The encoding of a tag; empty if the number is `bare`. */
  def tag(value: UInt, bare: Bool): EncodedNumber = {
    val (bytes, count) = varint(value, 5)
    encoded(Mux(bare, 0.U, bytes), Mux(bare, 0.U, count))
  }

  /** A tag followed by a number. */
  def tagged(tag: EncodedNumber, number: EncodedNumber): EncodedNumber =
    encoded((number.bytes << Cat(tag.count(2, 0), 0.U(3.W))) | tag.bytes, tag.count + number.count)

  /** Concatenates the second number and the first, or tag and length and the bytes. */
  private def beside(placed: DecoupledIO[PlacedNumber]): DecoupledIO[DescendingChunk] = {
    val bits = placed.bits
    val beatBits = bits.chunk.data.getWidth
    val both = (bits.own.bytes << Cat(bits.before.count, 0.U(3.W))) | bits.before.bytes
    val numbers = Mux(bits.hasTwo, both, bits.own.bytes)(beatBits.min(16 * mostBytes) - 1, 0)
    val prefixed = ((bits.chunk.data << Cat(bits.own.count, 0.U(3.W))) | bits.own.bytes)(beatBits - 1, 0)
    val chunk = Wire(Decoupled(chiselTypeOf(bits.chunk)))
    chunk.valid := placed.valid
    placed.ready := chunk.ready
    chunk.bits := bits.chunk
    chunk.bits.data := Mux(bits.isPrefixed, prefixed, Mux(bits.isBytes, bits.chunk.data, numbers))
    chunk
  }

  /** The encoding of `value` as a varint, the first byte lowest, and its length, at most `most`. */
  def varint(value: UInt, most: Int): (UInt, UInt) = {
    val padded = value.pad(7 * most)
    val groups = Seq.tabulate(most)(i => padded(7 * i + 6, 7 * i))
    val more = Seq.tabulate(most)(i => if (i == most - 1) false.B else (padded >> (7 * (i + 1))).orR)
    val bytes = groups.zip(more).map { case (group, more) => more ## group }
    (Cat(bytes.reverse), PriorityEncoder(VecInit(more.map(!_)).asUInt) +& 1.U)
  }
}
