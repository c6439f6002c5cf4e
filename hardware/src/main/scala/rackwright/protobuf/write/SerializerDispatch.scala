package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.stream.SkidBuffer

/** Marks of the walk: start and end of a message, and the end of a request. */
class SerializerMark extends Bundle {
  val kind = OperationKind()
  val tag = UInt(32.W)
  val status = UInt(Status.width.W)
}

/** Turns the fields that the walk has found into operations, and strings and arrays into tasks. */
class SerializerDispatch extends Module {

  /** One of these two at a time: numbers or strings; a mark. */
  val field = IO(Flipped(Decoupled(new FoundField)))
  val mark = IO(Flipped(Decoupled(new SerializerMark)))

  /** Number of their request. */
  val request = IO(Input(UInt(SerializerEncoder.requestBits.W)))

  val operation = IO(Decoupled(new SerializerOperation))
  val task = IO(Decoupled(new FieldTask))

  // Outputs are buffered, so that inputs do not depend on the queues behind.
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

/** Distributes strings and arrays round-robin to the field serializers. */
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
