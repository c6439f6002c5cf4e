package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.memory.RegisterFile
import rackwright.port.Status

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

/** Makes bytes of numbers, tags and lengths; counts bytes, which is where lengths come from.
  *
  * Stages: varints and their lengths; tags before numbers; the count, in which a length that comes from it takes two
  * more cycles; two numbers, or a length and a string, beside each other.
  */
class SerializerEncoder(params: SerializerParams) extends Module {
  import SerializerEncoder.State
  private val beatBytes = params.portBytes

  /** What to encode. */
  val step = IO(Flipped(Decoupled(new OutputStep(beatBytes))))

  /** Its bytes. */
  val chunk = IO(Decoupled(new DescendingChunk(beatBytes)))

  /** The writer has no more room for the request that it is at; and which of some it is. */
  val full = IO(Input(Bool()))
  val writerTurn = IO(Input(UInt(DescendingWriter.groupBits.W)))

  /** The request at hand won't end with ok; there is no sense in walking on. */
  val failed = IO(Output(Bool()))

  /** Requests that ended here, modulo a small number. */
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

  // A length that is the difference of two counts, then its bytes.
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

/** A number and its tag as they are written, the first byte lowest. */
class EncodedNumber extends Bundle {
  val bytes = UInt((8 * SerializerEncoder.mostBytes).W)
  val count = UInt(4.W)
}

/** A step whose numbers have been encoded, but for a length that is not known yet. */
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

  /** Tag and length are before the bytes, whose data begin at byte 0. */
  val isPrefixed = Bool()

  /** Bytes of all that, unless a length is not known yet. */
  val bytes = UInt(log2Ceil(beatBytes + 1).W)
}

/** What becomes one chunk, its parts not beside each other yet. */
class PlacedNumber(beatBytes: Int) extends Bundle {
  val chunk = new DescendingChunk(beatBytes)
  val own = new EncodedNumber
  val before = new EncodedNumber
  val hasTwo = Bool()
  val isBytes = Bool()
  val isPrefixed = Bool()
}

/** Encodes what is known of steps: numbers in one stage, tags before them in the next. */
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
  // The length of a field that is one piece.
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

/** How varints are written. */
object SerializerEncoder {

  /** Bits that tell requests apart of which some are walked and some are written. */
  val requestBits: Int = 6

  /** Bytes of a number and its tag, at most. */
  val mostBytes: Int = 15

  /** Bytes of a tag and a length, at most. */
  val mostPrefixBytes: Int = 10

  /** `known` takes steps; of one whose length is not known yet, it is `subtracted` and then `encoded`. */
  object State extends ChiselEnum {
    val known, subtracted, encoded = Value
  }

  private def encoded(bytes: UInt, count: UInt): EncodedNumber = {
    val number = Wire(new EncodedNumber)
    number.bytes := bytes
    number.count := count
    number
  }

  /** The bytes of a number. */
  def value(number: WireNumber): EncodedNumber = {
    val asVarint = varint(number.value, 10)
    val bytes = Mux(number.form === NumberForm.varint, asVarint._1, number.value)
    encoded(bytes, MuxLookup(number.form, asVarint._2)(Seq(NumberForm.fixed32 -> 4.U, NumberForm.fixed64 -> 8.U)))
  }

  /** The bytes of a tag; none if the number is `bare`. */
  def tag(value: UInt, bare: Bool): EncodedNumber = {
    val (bytes, count) = varint(value, 5)
    encoded(Mux(bare, 0.U, bytes), Mux(bare, 0.U, count))
  }

  /** A number after its tag. */
  def tagged(tag: EncodedNumber, number: EncodedNumber): EncodedNumber =
    encoded((number.bytes << Cat(tag.count(2, 0), 0.U(3.W))) | tag.bytes, tag.count + number.count)

  /** Puts the second number before the first, and tag and length before bytes. */
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

  /** The bytes of `value` as a varint, the first one lowest, and how many there are, at most `most`. */
  def varint(value: UInt, most: Int): (UInt, UInt) = {
    val padded = value.pad(7 * most)
    val groups = Seq.tabulate(most)(i => padded(7 * i + 6, 7 * i))
    val more = Seq.tabulate(most)(i => if (i == most - 1) false.B else (padded >> (7 * (i + 1))).orR)
    val bytes = groups.zip(more).map { case (group, more) => more ## group }
    (Cat(bytes.reverse), PriorityEncoder(VecInit(more.map(!_)).asUInt) +& 1.U)
  }
}
