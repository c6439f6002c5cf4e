package rackwright.allocate

import chisel3._
import chisel3.util._

import rackwright.port.MemoryPort

/** Reads and writes blocks of the heap.
  *
  * Memory keeps no order, so that an access waits here while a write of the same grain has not been answered.
  */
class BlockMemory(params: Params) extends Module {
  private val writes = params.port.outstanding / 2
  private val readTags = Seq.tabulate(2)(beat => writes + beat)

  /** The address of the heap, and its number of grains. */
  val base = IO(Input(UInt(64.W)))
  val total = IO(Input(UInt(Grain.bits.W)))
  val memory = IO(new MemoryPort(params.port))

  /** Requests a block, one at a time; offered until it has arrived. */
  val read = IO(Flipped(Decoupled(UInt(Grain.bits.W))))
  val block = IO(Valid(new Block))
  val write = IO(Flipped(Decoupled(new BlockWrite)))

  /** A block that is about to be allocated, and whether its links are still being written. */
  val leaving = IO(Input(UInt(Grain.bits.W)))
  val unsettled = IO(Output(Bool()))

  /** Memory has refused a write. */
  val refused = IO(Output(Bool()))
  val idle = IO(Output(Bool()))

  private val pending = RegInit(VecInit.fill(writes)(false.B))
  private val grains = Reg(Vec(writes, UInt(Grain.bits.W)))
  private def isWritten(grain: UInt): Bool =
    pending.zip(grains).map { case (busy, other) => busy && other === grain }.reduce(_ || _)

  // An access is stored in a register while it is compared with outstanding writes.
  private val held = RegInit(false.B)
  private val writing = Reg(Bool())
  private val beat = RegInit(0.U(1.W))
  private val grain = Reg(UInt(Grain.bits.W))
  private val address = Reg(UInt(64.W))
  private val data = Reg(UInt(128.W))
  private val mask = Reg(UInt(2.W))
  private val fetching = RegInit(false.B)
  private val place = Reg(UInt(Grain.bits.W))

  private val freeTag = PriorityEncoder(pending.map(!_))
  private val waits = isWritten(grain) || (writing && pending.asUInt.andR)
  memory.request.valid := held && !waits
  memory.request.bits.address := address
  memory.request.bits.write := writing
  memory.request.bits.data := data
  memory.request.bits.mask := Cat(Fill(8, mask(1)), Fill(8, mask(0)))
  memory.request.bits.tag := Mux(writing, freeTag, Mux(beat.asBool, readTags(1).U, readTags(0).U))
  memory.response.ready := true.B

  private val ends = memory.request.fire && (writing || beat === 1.U)
  private val free = !held || ends
  read.ready := free && !fetching && !block.valid
  write.ready := free && !(read.valid && read.ready)

  when(memory.request.fire && !writing && beat === 0.U) {
    beat := 1.U
    grain := grain + 1.U
    address := address + Grain.bytes.U
  }.elsewhen(free) {
    val target = Mux(read.fire, read.bits, write.bits.place + write.bits.links)
    held := read.fire || write.fire
    writing := write.fire
    beat := 0.U
    grain := target
    address := base + Cat(target, 0.U(Grain.shift.W))
    data := Cat(write.bits.high.bits, write.bits.low.bits)
    mask := Cat(write.bits.high.valid, write.bits.low.valid)
  }
  when(read.fire) {
    fetching := true.B
    place := read.bits
  }
  when(memory.request.fire && writing) {
    pending(freeTag) := true.B
    grains(freeTag) := grain
  }

  private val answer = memory.response.bits
  private val ofWrite = answer.tag < writes.U
  when(memory.response.valid && ofWrite) { pending(answer.tag(log2Ceil(writes) - 1, 0)) := false.B }
  refused := RegNext(memory.response.valid && ofWrite && answer.fault, false.B)

  private val halves = Reg(Vec(2, UInt(128.W)))
  private val faults = Reg(Vec(2, Bool()))
  private val arrived = RegInit(VecInit.fill(2)(false.B))
  for ((tag, half) <- readTags.zipWithIndex) {
    when(memory.response.valid && answer.tag === tag.U) {
      halves(half) := answer.data
      faults(half) := answer.fault
      arrived(half) := true.B
    }
  }
  private val whole = arrived.asUInt.andR
  when(whole) {
    arrived.foreach(_ := false.B)
    fetching := false.B
  }
  block.valid := RegNext(whole, false.B)
  private val complete = Wire(new Block)
  complete.place := place
  complete.header := Header.of(halves(0), place, total)
  complete.links := Links.of(halves(1))
  complete.sound := Header.sealedAs(halves(0), place) && !faults(0) && !faults(1)
  block.bits := RegNext(complete)

  unsettled := isWritten(leaving + 1.U) || (held && writing && grain === leaving + 1.U)
  idle := !held && !fetching && !pending.asUInt.orR && !block.valid && !refused && !memory.response.valid
  assert(!memory.response.valid || !ofWrite || pending(answer.tag(log2Ceil(writes) - 1, 0)), "a stray answer")
}
