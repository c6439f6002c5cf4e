package rackwright.operation

import chisel3._
import chisel3.util._

import rackwright.port.{MemoryPort, MemoryPortParams, Status}

/** The result of an operation and the addresses to which it is written; an address of 0 means none. */
class Completion extends Bundle {
  val flag = UInt(64.W)
  val record = UInt(64.W)
  val status = UInt(Status.width.W)
  val outputBytes = UInt(64.W)
  val inputOffset = UInt(64.W)
}

/** Writes the completion record (16 bytes, aligned to 16), then the completion flag (8 bytes, aligned to 8).
  *
  * The flag is written last, so that software that observes it finds the record complete. Both report `access_fault` if
  * it is known in time; a fault of the flag's own write can only be queried by a command.
  */
class CompletionWriter(port: MemoryPortParams) extends Module {
  import CompletionWriter.State

  /** Offered until both words are written: `ready` is high in the cycle in which all responses have arrived. */
  val completion = IO(Flipped(Decoupled(new Completion)))

  /** With `completion.ready`: memory answered one of the writes with a fault. */
  val faulted = IO(Output(Bool()))

  /** Writes only, one at a time. */
  val memory = IO(new MemoryPort(port))

  private val state = RegInit(State.record)
  private val asked = RegInit(false.B)
  private val fault = RegInit(false.B)

  private val bits = completion.bits
  private val onRecord = state === State.record
  private val address = Mux(onRecord, bits.record, bits.flag)
  private val wanted = state =/= State.done && address =/= 0.U
  private val answered = asked && memory.response.valid
  private val status = Mux(fault, Status.accessFault, bits.status)
  private val mark = status +& 1.U

  memory.request.valid := completion.valid && wanted && !asked
  memory.request.bits.address := Cat(address(port.addressBits - 1, port.offsetBits), 0.U(port.offsetBits.W))
  memory.request.bits.write := true.B
  memory.request.bits.tag := 0.U
  memory.request.bits.data := Mux(onRecord, recordWords, flagWords)
  memory.request.bits.mask := Mux(onRecord, laneMask(16), laneMask(8))
  memory.response.ready := true.B

  /** The same words in every lane; the mask picks the lane. */
  private def recordWords: UInt = Fill(port.bytes / 16, Cat(bits.inputOffset, bits.outputBytes(55, 0), mark.pad(8)))
  private def flagWords: UInt = Fill(port.bytes / 8, mark.pad(64))
  private def laneMask(bytes: Int): UInt = {
    val lane = address(port.offsetBits - 1, 0) & (port.bytes - bytes).U
    (((BigInt(1) << bytes) - 1).U << lane)(port.bytes - 1, 0)
  }

  completion.ready := state === State.done
  faulted := fault

  when(memory.request.fire) { asked := true.B }
  when(answered) {
    asked := false.B
    when(memory.response.bits.fault) { fault := true.B }
  }
  when(completion.valid && state =/= State.done && (answered || !wanted)) {
    state := Mux(onRecord, State.flag, State.done)
  }
  when(completion.fire) {
    state := State.record
    fault := false.B
  }
}

/** The states of a [[CompletionWriter]]. */
object CompletionWriter {

  /** The next write. */
  object State extends ChiselEnum {
    val record, flag, done = Value
  }
}
