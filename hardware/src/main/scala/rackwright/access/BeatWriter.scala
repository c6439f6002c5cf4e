package rackwright.access

import chisel3._
import chisel3.util._

import rackwright.port.{MemoryPort, MemoryPortParams}

/** Has beats written and watches the answers.
  *
  * Two beats wait here, so that no path leads from memory to the producer.
  */
class BeatWriter(port: MemoryPortParams, outstanding: Int) extends Module {
  require(outstanding <= port.outstanding, s"$outstanding writes outstanding need more than ${port.tagBits} tag bits")

  /** Clears the fault of the range before. */
  val clear = IO(Input(Bool()))

  /** Beats to write. */
  val beat = IO(Flipped(Decoupled(new WriteBeat(port))))

  /** Writes only. */
  val memory = IO(new MemoryPort(port))

  /** A write since `clear` was answered with a fault. */
  val faulted = IO(Output(Bool()))

  /** Every beat taken has been answered. */
  val quiet = IO(Output(Bool()))

  private val waiting = Queue(beat, 2)
  private val tags = Module(new TagAllocator(outstanding))
  private val fault = RegInit(false.B)

  memory.request.valid := waiting.valid && tags.allocate.valid
  waiting.ready := memory.request.ready && tags.allocate.valid
  tags.allocate.ready := memory.request.ready && waiting.valid
  memory.request.bits.address := waiting.bits.address
  memory.request.bits.write := true.B
  memory.request.bits.data := waiting.bits.data
  memory.request.bits.mask := waiting.bits.mask
  memory.request.bits.tag := tags.allocate.bits

  memory.response.ready := true.B
  tags.free.valid := memory.response.valid
  tags.free.bits := memory.response.bits.tag
  when(memory.response.valid && memory.response.bits.fault) { fault := true.B }
  when(clear) { fault := false.B }

  faulted := fault
  quiet := tags.idle && !waiting.valid
}
