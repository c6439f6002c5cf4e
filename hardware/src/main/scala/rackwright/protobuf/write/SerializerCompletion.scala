package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.port.{MemoryPort, MemoryPortParams, Status}

/** Completes requests whose output has been written: writes their completion records. */
class SerializerCompletion(port: MemoryPortParams) extends Module {
  import SerializerCompletion.State

  /** Accepted when the record has been written. */
  val report = IO(Flipped(Decoupled(new OutputReport)))

  /** The result of a request, in the cycle in which its report is accepted. */
  val ended = IO(Valid(new OutputReport))

  /** Writes only. */
  val memory = IO(new MemoryPort(port))

  private val state = RegInit(State.begin)
  private val asked = RegInit(false.B)
  private val fault = RegInit(false.B)

  private val bits = report.bits
  private val status = Mux(fault && bits.status === Status.ok, Status.accessFault, bits.status)
  // In a record of two beats, the one that marks it as complete is written last.
  private val first = if (port.bytes == 32) State.record else State.rest
  private val now = Mux(state === State.begin, Mux(bits.record =/= 0.U, first, State.done), state)
  private val wanted = report.valid && now =/= State.done
  private val words = Seq((status +& 1.U).pad(64), bits.head.pad(64), bits.length.pad(64), 0.U(64.W))
  private val record = Cat(words.reverse)
  private val beat = Mux(now === State.rest, 1.U, 0.U)

  memory.request.valid := wanted && !asked
  memory.request.bits.address := Cat((bits.record >> port.offsetBits) + beat, 0.U(port.offsetBits.W))
  memory.request.bits.write := true.B
  memory.request.bits.data := (if (port.bytes == 32) record else Mux(beat === 1.U, record(255, 128), record(127, 0)))
  memory.request.bits.mask := ~0.U(port.bytes.W)
  memory.request.bits.tag := 0.U
  memory.response.ready := true.B

  private val answered = asked && memory.response.valid
  when(memory.request.fire) { asked := true.B }
  when(answered) {
    asked := false.B
    when(memory.response.bits.fault) { fault := true.B }
  }
  when(wanted) { state := Mux(answered, Mux(now === State.rest, State.record, State.done), now) }
  when(report.fire) { state := State.begin }

  report.ready := now === State.done
  ended.valid := report.fire
  ended.bits := bits
  ended.bits.status := status
  when(report.fire) { fault := false.B }
}

/** The states of a [[SerializerCompletion]]. */
object SerializerCompletion {

  /** The next write, selected by `begin`; `rest` is the second beat of a record if a beat has 16 bytes. */
  object State extends ChiselEnum {
    val begin, rest, record, done = Value
  }
}
