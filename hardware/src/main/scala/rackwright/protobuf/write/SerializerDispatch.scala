package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.stream.SkidBuffer

/** What the walk says of messages: their bounds, and the end of a request. */
class SerializerMark extends Bundle {
  val kind = OperationKind()
  val tag = UInt(32.W)
  val status = UInt(Status.width.W)
}

/** Makes operations of what the walk finds, and tasks of strings and arrays. */
class SerializerDispatch extends Module {

  /** Of these two, one at a time: numbers or strings; a mark. */
  val field = IO(Flipped(Decoupled(new FoundField)))
  val mark = IO(Flipped(Decoupled(new SerializerMark)))

  /** Number of the request that they belong to. */
  val request = IO(Input(UInt(SerializerEncoder.requestBits.W)))

  val operation = IO(Decoupled(new SerializerOperation))
  val task = IO(Decoupled(new FieldTask))

  // What is said leaves through buffers, which take it without regard to the queues behind them.
  private val operations = Wire(Decoupled(new SerializerOperation))
  private val tasks = Wire(Decoupled(new FieldTask))
  operation <> SkidBuffer(operations)
  task <> SkidBuffer(tasks)

  private val isNumber = field.bits.kind === FoundKind.number
  private val isTask = field.valid && !isNumber
  tasks.valid := isTask && operations.ready
  tasks.bits := FieldTask.of(field.bits, request)
  field.ready := operations.ready && (isNumber || tasks.ready)
  mark.ready := operations.ready
  operations.valid := Mux(isTask, tasks.ready, field.valid || mark.valid)
  operations.bits.kind := MuxCase(
    OperationKind.number,
    Seq(isTask -> OperationKind.field, mark.valid -> mark.bits.kind)
  )
  operations.bits.tag := Mux(mark.valid, mark.bits.tag, field.bits.entry.tag)
  operations.bits.number := field.bits.number
  operations.bits.status := Mux(mark.valid, mark.bits.status, Status.ok)
}

/** Deals strings and arrays out to the field serializers in turns. */
class SerializerDealer(params: SerializerParams) extends Module {
  val source = IO(Flipped(Decoupled(new FieldSource)))
  val sources = IO(Vec(params.fieldSerializers, Decoupled(new FieldSource)))

  private val dealt = Queue(source, 2)
  private val (turn, _) = Counter(dealt.fire, params.fieldSerializers)
  dealt.ready := VecInit(sources.map(_.ready))(turn)
  for ((field, index) <- sources.zipWithIndex) {
    field.valid := dealt.valid && turn === index.U
    field.bits := dealt.bits
  }
}
