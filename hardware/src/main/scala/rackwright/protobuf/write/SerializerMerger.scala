package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.port.Status

/** An input of the encoder: a piece of a field, or something between fields. */
class OutputStep(beatBytes: Int) extends Bundle {
  val piece = new FieldPiece(beatBytes)

  /** The first piece of a field. */
  val first = Bool()

  /** The last byte of a sub-message follows; its first byte was the previous one; the request ends, with
    * `piece.status`.
    */
  val opens = Bool()
  val closes = Bool()
  val finishes = Bool()
}

/** Selects the pieces of the field serializers in the order in which fields were distributed. */
class SerializerPicker(params: SerializerParams) extends Module {

  /** The pieces of each field serializer. */
  val pieces = IO(Vec(params.fieldSerializers, Flipped(Decoupled(new LoadedPiece(params.portBytes)))))

  /** The pieces of consecutive fields. */
  val piece = IO(Decoupled(new LoadedPiece(params.portBytes)))

  private val picked = Wire(Decoupled(new LoadedPiece(params.portBytes)))
  private val (turn, _) = Counter(picked.fire && picked.bits.last, params.fieldSerializers)
  picked.valid := VecInit(pieces.map(_.valid))(turn)
  picked.bits := VecInit(pieces.map(_.bits))(turn)
  for ((field, index) <- pieces.zipWithIndex) field.ready := picked.ready && turn === index.U
  piece <> Queue(picked, 2)
}

/** Merges operations with the pieces of their fields, in order.
  *
  * Two numbers are combined into one step, and so are the last operation of a request and its end. A further stage
  * converts numbers from their representation in memory.
  *
  * @param params
  *   parameters of the unit.
  */
class SerializerMerger(params: SerializerParams) extends Module {
  import SerializerMerger.Merged
  private val beatBytes = params.portBytes

  /** The output in order, from the last byte to the first. */
  val operation = IO(Flipped(Decoupled(new SerializerOperation)))

  /** The pieces of fields, in the order of their operations. */
  val piece = IO(Flipped(Decoupled(new LoadedPiece(beatBytes))))

  /** One step per cycle. */
  val step = IO(Decoupled(new OutputStep(beatBytes)))

  /** The next operation waits for bytes. */
  val stalled = IO(Output(Bool()))

  private val waiting = Module(new PairQueue(new SerializerOperation, Serializer.operations))
  waiting.enqueue <> operation
  private val (now, next) = (waiting.heads(0).bits, waiting.heads(1).bits)
  private val (valid, nextValid) = (waiting.heads(0).valid, waiting.heads(1).valid)

  private val first = RegInit(true.B)
  private val isField = now.kind === OperationKind.field
  private val ends = !isField || (piece.bits.last && !piece.bits.continues)

  private def isNumber(operation: SerializerOperation): Bool = operation.kind === OperationKind.number
  private val pairs = FieldPiece.mayHoldTwo(beatBytes).B && nextValid && isNumber(now) && isNumber(next)
  private val finishes = now.kind === OperationKind.finish
  private val endsWithIt =
    !finishes && ends && nextValid && next.kind === OperationKind.finish && next.status === Status.ok

  private val words = piece.bits.data.asTypeOf(Vec(beatBytes / 8, UInt(64.W)))
  private def wordAt(lane: UInt): UInt = words(lane >> 3)
  private val merged = Wire(Decoupled(new Merged(beatBytes)))
  merged.valid := valid && (!isField || piece.valid)
  merged.bits.isField := isField
  merged.bits.piece := piece.bits
  merged.bits.first := isField && first
  merged.bits.opens := now.kind === OperationKind.open
  merged.bits.closes := now.kind === OperationKind.close
  merged.bits.finishes := finishes || endsWithIt
  merged.bits.number := now.number
  merged.bits.before := next.number
  merged.bits.beforeTag := next.tag
  when(isField) {
    merged.bits.number.value := wordAt(piece.bits.lane)
    merged.bits.before.value := wordAt(piece.bits.before.bits)
    merged.bits.beforeTag := piece.bits.tag
  }
  when(!isField) {
    merged.bits.piece.kind := PieceKind.nothing
    merged.bits.piece.tag := now.tag
    merged.bits.piece.status := now.status
    merged.bits.piece.before.valid := pairs
    when(isNumber(now)) { merged.bits.piece.kind := PieceKind.tagged }
    when(now.kind === OperationKind.close) { merged.bits.piece.kind := PieceKind.prefix }
  }
  waiting.take := Mux(merged.fire && ends, 1.U +& (pairs || endsWithIt), 0.U)
  piece.ready := valid && isField && merged.ready
  stalled := valid && !merged.valid
  when(piece.fire) { first := piece.bits.last }

  private val made = Queue(merged, 2)
  made.ready := step.ready
  step.valid := made.valid
  step.bits := made.bits.step
}

/** The contents of the pipeline stages of a [[SerializerMerger]]. */
object SerializerMerger {

  /** A step whose numbers, if they belong to a field, are still in their representation in memory. */
  class Merged(beatBytes: Int) extends Bundle {
    val isField = Bool()
    val piece = new LoadedPiece(beatBytes)
    val first = Bool()
    val opens = Bool()
    val closes = Bool()
    val finishes = Bool()
    val number = new WireNumber
    val before = new WireNumber
    val beforeTag = UInt(32.W)

    private def asWritten(number: WireNumber, lane: UInt): WireNumber =
      Mux(isField, WireNumber.fromMemory(piece.numberKind, number.value, lane(2, 0)), number)

    /** The step, with converted numbers. */
    def step: OutputStep = {
      val step = Wire(new OutputStep(beatBytes))
      step.first := first
      step.opens := opens
      step.closes := closes
      step.finishes := finishes
      step.piece.kind := piece.kind
      step.piece.data := piece.data
      step.piece.offset := piece.offset
      step.piece.count := piece.count
      step.piece.prefixed := piece.prefixed
      step.piece.number := asWritten(number, piece.lane)
      step.piece.tag := piece.tag
      step.piece.before.valid := piece.before.valid
      step.piece.before.bits.number := asWritten(before, piece.before.bits)
      step.piece.before.bits.tag := beforeTag
      step.piece.last := piece.last
      step.piece.status := piece.status
      step
    }
  }
}
