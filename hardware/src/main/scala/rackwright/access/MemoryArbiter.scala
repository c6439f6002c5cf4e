package rackwright.access

import chisel3._
import chisel3.util._

import rackwright.port.{MemoryPort, MemoryPortParams, MemoryRequest}

/** Shares one memory port among several; requests take turns, responses are routed by the tag.
  *
  * @param upstream
  *   shape of each of the ports that share.
  * @param count
  *   how many share.
  */
class MemoryArbiter(upstream: MemoryPortParams, count: Int) extends Module {
  private val shared = MemoryArbiter.downstream(upstream, count)
  private val indexBits = shared.tagBits - upstream.tagBits

  /** The ports that share, seen from memory. */
  val ports = IO(Vec(count, Flipped(new MemoryPort(upstream))))

  /** The shared port: its tag is the tag of the requesting port, followed by the number of that port in the low bits.
    */
  val memory = IO(new MemoryPort(shared))

  private val arbiter = Module(new RRArbiter(new MemoryRequest(upstream), count))
  arbiter.io.in.zip(ports).foreach { case (in, port) => in <> port.request }
  memory.request.valid := arbiter.io.out.valid
  arbiter.io.out.ready := memory.request.ready
  memory.request.bits.address := arbiter.io.out.bits.address
  memory.request.bits.write := arbiter.io.out.bits.write
  memory.request.bits.watch.zip(arbiter.io.out.bits.watch).foreach { case (to, from) => to := from }
  memory.request.bits.data := arbiter.io.out.bits.data
  memory.request.bits.mask := arbiter.io.out.bits.mask
  memory.request.bits.tag := Cat(arbiter.io.out.bits.tag, arbiter.io.chosen(indexBits - 1, 0))

  private val owner = memory.response.bits.tag(indexBits - 1, 0)
  for ((port, index) <- ports.zipWithIndex) {
    port.response.valid := memory.response.valid && owner === index.U
    port.response.bits.tag := memory.response.bits.tag >> indexBits
    port.response.bits.data := memory.response.bits.data
    port.response.bits.fault := memory.response.bits.fault
  }
  memory.response.ready := VecInit(ports.map(_.response.ready).toSeq)(owner)
}

/** The shape of the shared port. */
object MemoryArbiter {

  /** The parameters of the port shared by `count` ports with the parameters `upstream`: its tag also contains the
    * requester.
    */
  def downstream(upstream: MemoryPortParams, count: Int): MemoryPortParams = {
    require(count >= 2, s"an arbiter is for two ports or more, not $count")
    upstream.copy(tagBits = upstream.tagBits + log2Ceil(count))
  }
}
