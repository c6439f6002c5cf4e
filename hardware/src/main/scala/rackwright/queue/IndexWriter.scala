package rackwright.queue

import chisel3._

import rackwright.port.MemoryPort

/** Writes an index of a queue whenever it has changed, one write at a time: while one is in progress, several changes
  * become one.
  */
class IndexWriter extends Module {
  val address = IO(Input(UInt(64.W)))
  val index = IO(Input(UInt(64.W)))

  /** Memory has this index already. */
  val set = IO(Input(Bool()))

  /** Begins to write. */
  val enable = IO(Input(Bool()))
  val memory = IO(new MemoryPort(LineAccess.port))

  /** In this cycle, memory refuses a write. */
  val fault = IO(Output(Bool()))

  /** No write is in progress; the index is in memory. */
  val quiet, current = IO(Output(Bool()))

  /** The index that memory has. */
  val stored = IO(Output(UInt(64.W)))

  private val asks, waits = RegInit(false.B)
  private val writing, written = Reg(UInt(64.W))
  private val isNew = index =/= written
  when(enable && quiet && isNew && !set) {
    asks := true.B
    writing := index
  }
  when(set) { written := index }
  stored := written
  when(memory.request.fire) {
    asks := false.B
    waits := true.B
  }
  when(memory.response.valid) {
    waits := false.B
    written := writing
  }
  memory.request.valid := asks
  memory.request.bits := 0.U.asTypeOf(memory.request.bits)
  memory.request.bits.address := address
  memory.request.bits.write := true.B
  memory.request.bits.data := writing
  memory.request.bits.mask := 0xff.U
  memory.response.ready := true.B
  fault := memory.response.valid && memory.response.bits.fault
  quiet := !asks && !waits
  current := quiet && !isNew
  assert(!memory.response.valid || waits, "memory answers what it was not asked")
}
