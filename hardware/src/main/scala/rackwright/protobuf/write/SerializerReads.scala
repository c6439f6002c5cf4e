package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.access.TagAllocator
import rackwright.memory.RegisterFile
import rackwright.port.{MemoryPort, MemoryPortParams}
import rackwright.protobuf.table.DescriptorTable

/** Shares a port, and its tags, among several readers.
  *
  * The next reader is selected one cycle in advance; requests are registered, and responses are registered twice.
  *
  * @param upstream
  *   parameters of the port of each reader.
  * @param shared
  *   parameters of the shared port.
  * @param count
  *   number of readers.
  */
class SerializerReads(upstream: MemoryPortParams, shared: MemoryPortParams, count: Int) extends Module {
  private val turnBits = log2Ceil(count).max(1)

  /** The ports of the readers, from the side of memory; reads only. */
  val ports = IO(Vec(count, Flipped(new MemoryPort(upstream))))

  /** The shared port. */
  val memory = IO(new MemoryPort(shared))

  /** Every read has been answered. */
  val idle = IO(Output(Bool()))

  private class Owner extends Bundle {
    val port = UInt(turnBits.W)
    val tag = UInt(upstream.tagBits.W)
  }
  private class Asked extends Bundle {
    val number = UInt((DescriptorTable.addressBits - shared.offsetBits).W)
    val tag = UInt(shared.tagBits.W)
  }
  private val tags = Module(new TagAllocator(shared.outstanding))
  private val owners = RegisterFile(shared.outstanding, new Owner)
  private val asked = Module(new Queue(new Asked, 2))

  private val turn = RegInit(0.U(turnBits.W))
  private val wants = VecInit(ports.map(_.request.valid)).asUInt
  private val later = wants & (~1.U(count.W) << turn)(count - 1, 0)
  turn := Mux(later.orR, PriorityEncoder(later), Mux(wants.orR, PriorityEncoder(wants), turn))

  private val takes = asked.io.enq.ready && tags.allocate.valid
  private val chosen = VecInit(ports.map(_.request.bits))(turn)
  private val isWanted = wants(turn)
  for ((port, index) <- ports.zipWithIndex) port.request.ready := takes && turn === index.U
  tags.allocate.ready := asked.io.enq.ready && isWanted
  asked.io.enq.valid := tags.allocate.valid && isWanted
  asked.io.enq.bits.number := chosen.address(DescriptorTable.addressBits - 1, 0) >> shared.offsetBits
  asked.io.enq.bits.tag := tags.allocate.bits
  when(asked.io.enq.fire) {
    val owner = Wire(new Owner)
    owner.port := turn
    owner.tag := chosen.tag
    owners.write(tags.allocate.bits, owner)
  }
  memory.request.valid := asked.io.deq.valid
  memory.request.bits.read(asked.io.deq.bits.number << shared.offsetBits, asked.io.deq.bits.tag)
  asked.io.deq.ready := memory.request.ready

  private val came = RegNext(memory.response.valid, false.B)
  private val answer = RegEnable(memory.response.bits, memory.response.valid)
  private val goes = RegNext(came, false.B)
  private val owner = RegEnable(owners.read(answer.tag), came)
  private val answered = RegEnable(answer, came)
  for ((port, index) <- ports.zipWithIndex) {
    port.response.valid := goes && owner.port === index.U
    port.response.bits.tag := owner.tag
    port.response.bits.data := answered.data
    port.response.bits.fault := answered.fault
  }
  memory.response.ready := true.B
  tags.free.valid := goes
  tags.free.bits := answered.tag
  idle := tags.idle
}
