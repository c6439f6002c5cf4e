package rackwright.protobuf

import chisel3._
import chisel3.util._

import rackwright.contract.Status

/** Bytes to write below those written before, or the end of a request. */
class DescendingChunk(beatBytes: Int) extends Bundle {

  /** Bytes `offset` to `offset + count - 1` of `data`. */
  val data = UInt((8 * beatBytes).W)
  val offset = UInt(log2Ceil(beatBytes).W)
  val count = UInt(log2Ceil(beatBytes + 1).W)

  /** The request ends with `status`; there are no bytes. */
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
  private val value = Mux(isPrefix, count - start, piece.number.value)
  private val form = Mux(isPrefix, NumberForm.varint, piece.number.form)
  private val varint = SerializerEncoder.varint(value, 10)
  private val (number, numberBytes) = (
    Mux(form === NumberForm.varint, varint._1, value),
    MuxLookup(form, varint._2)(Seq(NumberForm.fixed32 -> 4.U, NumberForm.fixed64 -> 8.U))
  )
  private val tag = SerializerEncoder.varint(piece.tag, 5)
  private val isBare = piece.kind === PieceKind.bare
  private val tagBytes = Mux(isBare, 0.U, tag._2)
  private val encoded = (number << Cat(tagBytes, 0.U(3.W))) | Mux(isBare, 0.U, tag._1)

  private val isBytes = piece.kind === PieceKind.bytes
  private val isNothing = piece.kind === PieceKind.nothing
  chunk.bits.data := Mux(isBytes, piece.data, encoded(8 * 15 - 1, 0))
  chunk.bits.offset := Mux(isBytes, piece.offset, 0.U)
  private val encodedBytes = (numberBytes +& tagBytes)(3, 0)
  chunk.bits.count := Mux(isBytes, piece.count, encodedBytes)
  chunk.bits.finishes := bits.finishes
  chunk.bits.status := Mux(status =/= Status.ok, status, piece.status)

  private val writes = bits.finishes || (!isNothing && !failed)
  chunk.valid := step.valid && writes
  step.ready := chunk.ready || !writes
  when(step.fire) {
    when(!isNothing) {
      val after = count + chunk.bits.count
      count := after
      when(after(31) && status === Status.ok) { status := Status.unsupported }
    }
    when(bits.first) { fieldStart := count }
    when(bits.opens) {
      starts.write(level, count)
      level := level + 1.U
    }
    when(bits.closes) { level := level - 1.U }
    when(isNothing && status === Status.ok) { status := piece.status }
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

  /** The bytes of `value` as a varint, the first one lowest, and how many there are, at most `most`. */
  def varint(value: UInt, most: Int): (UInt, UInt) = {
    val padded = value.pad(7 * most)
    val groups = Seq.tabulate(most)(i => padded(7 * i + 6, 7 * i))
    val more = Seq.tabulate(most)(i => if (i == most - 1) false.B else (padded >> (7 * (i + 1))).orR)
    val bytes = groups.zip(more).map { case (group, more) => more ## group }
    (Cat(bytes.reverse), PriorityEncoder(VecInit(more.map(!_)).asUInt) +& 1.U)
  }
}
