package rackwright.protobuf

import chisel3._
import chisel3.util._

import rackwright.memory.{MemoryPort, MemoryPortParams, MemoryRequest, TagAllocator}

/** Lets several readers share a port, whose tags go to whoever reads next.
  *
  * @param upstream
  *   shape of the port of each reader.
  * @param shared
  *   shape of the port they share.
  * @param count
  *   number of readers.
  */
class SerializerReads(upstream: MemoryPortParams, shared: MemoryPortParams, count: Int) extends Module {

  /** The ports that share, seen from memory; reads only. */
  val ports = IO(Vec(count, Flipped(new MemoryPort(upstream))))

  /** The shared port. */
  val memory = IO(new MemoryPort(shared))

  /** Every read has been answered. */
  val idle = IO(Output(Bool()))

  private val arbiter = Module(new RRArbiter(new MemoryRequest(upstream), count))
  private val tags = Module(new TagAllocator(shared.outstanding))
  private val owners = Mem(shared.outstanding, UInt((log2Ceil(count) + upstream.tagBits).W))
  arbiter.io.in.zip(ports).foreach { case (in, port) => in <> port.request }
  private val chosen = arbiter.io.out
  memory.request.valid := chosen.valid && tags.allocate.valid
  chosen.ready := memory.request.ready && tags.allocate.valid
  tags.allocate.ready := memory.request.ready && chosen.valid
  memory.request.bits.read(chosen.bits.address, tags.allocate.bits)
  when(memory.request.fire) { owners.write(tags.allocate.bits, Cat(arbiter.io.chosen, chosen.bits.tag)) }

  private val owner = owners.read(memory.response.bits.tag)
  for ((port, index) <- ports.zipWithIndex) {
    port.response.valid := memory.response.valid && (owner >> upstream.tagBits) === index.U
    port.response.bits.tag := owner(upstream.tagBits - 1, 0)
    port.response.bits.data := memory.response.bits.data
    port.response.bits.fault := memory.response.bits.fault
  }
  memory.response.ready := true.B
  tags.free.valid := memory.response.valid
  tags.free.bits := memory.response.bits.tag
  idle := tags.idle
}
