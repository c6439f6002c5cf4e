package rackwright.protobuf

import chisel3._
import chisel3.util._

/** What the encoder makes bytes of: a piece of a field, or something between fields. */
class OutputStep(beatBytes: Int) extends Bundle {
  val piece = new FieldPiece(beatBytes)

  /** The first piece of a field. */
  val first = Bool()

  /** The last byte of a sub-message comes next; its first byte was the last one; the request ends with `piece.status`.
    */
  val opens = Bool()
  val closes = Bool()
  val finishes = Bool()
}

/** Takes operations in order, and for those of a field serializer its pieces. */
class SerializerMerger(params: SerializerParams) extends Module {

  /** What is to be written, from the last byte to the first. */
  val operation = IO(Flipped(Decoupled(new SerializerOperation(params))))

  /** The field serializers. */
  val pieces = IO(Vec(params.fieldSerializers, Flipped(Decoupled(new FieldPiece(params.portBytes)))))

  /** One step per cycle. */
  val step = IO(Decoupled(new OutputStep(params.portBytes)))

  /** Number of the request whose bytes are givenUp up, as the encoder counts. */
  val givenUp = IO(Flipped(Valid(UInt(SerializerEncoder.requestBits.W))))

  /** The field serializers whose bytes are not wanted. */
  val cancel = IO(Output(Vec(params.fieldSerializers, Bool())))

  private val first = RegInit(true.B)
  private val request = RegInit(0.U(SerializerEncoder.requestBits.W))
  private val bits = operation.bits
  private val isField = bits.kind === OperationKind.field
  private val piece = VecInit(pieces.map(_.bits))(bits.serializer)
  private val pieceValid = VecInit(pieces.map(_.valid))(bits.serializer)

  step.valid := operation.valid && (!isField || pieceValid)
  step.bits.piece := piece
  step.bits.first := isField && first
  step.bits.opens := bits.kind === OperationKind.open
  step.bits.closes := bits.kind === OperationKind.close
  step.bits.finishes := bits.kind === OperationKind.finish
  when(!isField) {
    step.bits.piece.kind := PieceKind.nothing
    step.bits.piece.number := bits.number
    step.bits.piece.tag := bits.tag
    step.bits.piece.status := bits.status
    when(bits.kind === OperationKind.number) { step.bits.piece.kind := PieceKind.tagged }
    when(bits.kind === OperationKind.close) { step.bits.piece.kind := PieceKind.prefix }
  }
  private val ends = !isField || piece.last
  operation.ready := step.ready && step.valid && ends
  for ((field, index) <- pieces.zipWithIndex) {
    cancel(
      index
    ) := givenUp.valid && givenUp.bits === request && operation.valid && isField && bits.serializer === index.U
    field.ready := operation.valid && isField && bits.serializer === index.U && step.ready
  }
  when(step.fire && isField) { first := piece.last }
  when(step.fire && step.bits.finishes) { request := request + 1.U }
}
