package rackwright.protobuf

import chisel3._
import chisel3.util._

import rackwright.contract.Status

/** What the encoder makes bytes of: a piece of a field, or something between fields. */
class OutputStep(beatBytes: Int) extends Bundle {
  val piece = new FieldPiece(beatBytes)

  /** The first piece of a field. */
  val first = Bool()

  /** The last byte of a sub-message comes next; its first byte was the last one; the request ends, with `piece.status`.
    */
  val opens = Bool()
  val closes = Bool()
  val finishes = Bool()
}

/** Takes operations in order, and for those of a field serializer its pieces.
  *
  * Two numbers become one step, and so do the last operation of a request and its end.
  *
  * @param params
  *   what to build.
  */
class SerializerMerger(params: SerializerParams) extends Module {

  /** Numbers of the requests whose operations will come. */
  val request = IO(Flipped(Decoupled(UInt(SerializerEncoder.requestBits.W))))

  /** What is to be written, from the last byte to the first. */
  val operation = IO(Flipped(Decoupled(new SerializerOperation(params))))

  /** The field serializers. */
  val pieces = IO(Vec(params.fieldSerializers, Flipped(Decoupled(new FieldPiece(params.portBytes)))))

  /** One step per cycle. */
  val step = IO(Decoupled(new OutputStep(params.portBytes)))

  /** Number of the request whose bytes are given up, as the encoder counts. */
  val givenUp = IO(Flipped(Valid(UInt(SerializerEncoder.requestBits.W))))

  /** The field serializers whose bytes are not wanted. */
  val cancel = IO(Output(Vec(params.fieldSerializers, Bool())))

  /** The next operation waits for bytes. */
  val stalled = IO(Output(Bool()))

  private val waiting = Module(new PairQueue(new SerializerOperation(params), Serializer.operations))
  waiting.enqueue <> operation
  private val (now, next) = (waiting.heads(0).bits, waiting.heads(1).bits)
  private val (valid, nextValid) = (waiting.heads(0).valid, waiting.heads(1).valid)

  private val first = RegInit(true.B)
  private val requests = Module(new Queue(UInt(SerializerEncoder.requestBits.W), Serializer.inFlight(params)))
  requests.io.enq <> request
  private val isField = now.kind === OperationKind.field
  private val piece = VecInit(pieces.map(_.bits))(now.serializer)
  private val pieceValid = VecInit(pieces.map(_.valid))(now.serializer)
  private val ends = !isField || piece.last

  private def isNumber(operation: SerializerOperation): Bool = operation.kind === OperationKind.number
  private val pairs = FieldPiece.mayHoldTwo(params.portBytes).B && nextValid && isNumber(now) && isNumber(next)
  private val finishes = now.kind === OperationKind.finish
  private val endsWithIt =
    !finishes && ends && nextValid && next.kind === OperationKind.finish && next.status === Status.ok

  step.valid := valid && (!isField || pieceValid)
  step.bits.piece := piece
  step.bits.first := isField && first
  step.bits.opens := now.kind === OperationKind.open
  step.bits.closes := now.kind === OperationKind.close
  step.bits.finishes := finishes || endsWithIt
  when(!isField) {
    step.bits.piece.kind := PieceKind.nothing
    step.bits.piece.number := now.number
    step.bits.piece.tag := now.tag
    step.bits.piece.status := now.status
    step.bits.piece.before.valid := pairs
    step.bits.piece.before.bits.number := next.number
    step.bits.piece.before.bits.tag := next.tag
    when(isNumber(now)) { step.bits.piece.kind := PieceKind.tagged }
    when(now.kind === OperationKind.close) { step.bits.piece.kind := PieceKind.prefix }
  }
  waiting.take := Mux(step.fire && ends, 1.U +& (pairs || endsWithIt), 0.U)
  stalled := valid && !step.valid

  for ((field, index) <- pieces.zipWithIndex) {
    val isNext = valid && isField && now.serializer === index.U
    cancel(index) := givenUp.valid && givenUp.bits === requests.io.deq.bits && isNext
    field.ready := isNext && step.ready
  }
  when(step.fire && isField) { first := piece.last }
  requests.io.deq.ready := step.fire && step.bits.finishes
}
