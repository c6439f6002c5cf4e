package rackwright.adapter

import chisel3._
import chisel3.util._

import rackwright.port.{Axi4Address, Axi4Params, Axi4Port, Axi4WriteData, MemoryPort, MemoryPortParams}

/** A memory port on an AXI4 master: one burst of one beat per request, the tag as transaction id.
  *
  * Responses to requests with different tags may have any order on both sides, so that no reordering is needed here. A
  * response other than OKAY or EXOKAY is a fault.
  */
class Axi4Adapter(port: MemoryPortParams) extends Module {
  private val params = Axi4Adapter.params(port)

  /** The unit's side. */
  val memory = IO(Flipped(new MemoryPort(port)))

  /** Where memory is. */
  val axi = IO(new Axi4Port(params))

  /** No request waits here to be taken by memory. */
  val idle = IO(Output(Bool()))

  // AXI4 forbids taking an offered address back, and the three channels are taken at different times: a queue each.
  private val writes = Wire(Decoupled(new Axi4Address(params)))
  private val data = Wire(Decoupled(new Axi4WriteData(params)))
  private val reads = Wire(Decoupled(new Axi4Address(params)))
  axi.aw <> Queue(writes, 2)
  axi.w <> Queue(data, 2)
  axi.ar <> Queue(reads, 2)

  idle := !axi.aw.valid && !axi.w.valid && !axi.ar.valid

  private val request = memory.request
  private val write = request.bits.write
  request.ready := Mux(write, writes.ready && data.ready, reads.ready)
  writes.valid := request.valid && write && data.ready
  data.valid := request.valid && write && writes.ready
  reads.valid := request.valid && !write
  address(writes.bits)
  address(reads.bits)
  data.bits.data := request.bits.data
  data.bits.strb := request.bits.mask
  data.bits.last := true.B

  private def address(channel: Axi4Address): Unit = {
    channel.id := request.bits.tag
    channel.addr := request.bits.address
    channel.len := 0.U
    channel.size := log2Ceil(port.bytes).U
    channel.burst := Axi4Adapter.incrementing.U
    channel.lock := false.B
    channel.cache := Axi4Adapter.writeBackAllocate.U
    channel.prot := 0.U
    channel.qos := 0.U
  }

  // Answers to reads carry data that blocks the bus: they go first.
  axi.r.ready := memory.response.ready
  axi.b.ready := memory.response.ready && !axi.r.valid
  memory.response.valid := axi.r.valid || axi.b.valid
  memory.response.bits.tag := Mux(axi.r.valid, axi.r.bits.id, axi.b.bits.id)
  memory.response.bits.data := axi.r.bits.data
  memory.response.bits.fault := Mux(axi.r.valid, axi.r.bits.resp(1), axi.b.bits.resp(1))
}

/** Shape of the adapter's master, and the constants of the AXI4 standard it uses. */
object Axi4Adapter {

  /** Burst type INCR. */
  private val incrementing = 1

  /** Normal memory, write back, read and write allocate: the unit works beside coherent caches. */
  private val writeBackAllocate = 15

  /** The master for a memory port of the shape `port`. */
  def params(port: MemoryPortParams): Axi4Params = Axi4Params(port.bytes, port.tagBits, port.addressBits)
}
