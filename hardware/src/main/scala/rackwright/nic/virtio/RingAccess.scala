package rackwright.nic.virtio

import chisel3._
import chisel3.util._

import rackwright.port.{MemoryPort, MemoryPortParams}

/** A read, or a write of 2 or 4 bytes, within a beat. */
class RingRequest extends Bundle {
  val address = UInt(64.W)
  val write = Bool()

  /** Writes 4 bytes, else 2. */
  val wide = Bool()
  val data = UInt(32.W)
}

/** Memory's response; `data` begins with the requested byte. */
class RingAnswer extends Bundle {
  val data = UInt(RingAccess.dataBits.W)
  val fault = Bool()
}

/** Small accesses to rings, one after the other: the requester waits for the response. */
class RingAccess(port: MemoryPortParams) extends Module {
  val request = IO(Flipped(Decoupled(new RingRequest)))
  val answer = IO(Valid(new RingAnswer))
  val memory = IO(new MemoryPort(port))

  /** An answer is awaited. */
  val waits = IO(Output(Bool()))

  private val waiting = RegInit(false.B)
  private val offset = Reg(UInt(port.offsetBits.W))
  private val place = request.bits.address(port.offsetBits - 1, 0)

  memory.request.valid := request.valid && !waiting
  request.ready := memory.request.ready && !waiting
  memory.request.bits.address := Cat(request.bits.address(63, port.offsetBits), 0.U(port.offsetBits.W))
  memory.request.bits.write := request.bits.write
  memory.request.bits.data := request.bits.data << Cat(place, 0.U(3.W))
  memory.request.bits.mask := Mux(request.bits.wide, 0xf.U, 0x3.U) << place
  memory.request.bits.tag := 0.U
  memory.response.ready := true.B
  when(request.fire) {
    waiting := true.B
    offset := place
  }
  when(memory.response.fire) { waiting := false.B }

  answer.valid := memory.response.fire
  answer.bits.data := (memory.response.bits.data >> Cat(offset, 0.U(3.W)))(RingAccess.dataBits - 1, 0)
  answer.bits.fault := memory.response.bits.fault
  waits := waiting
}

/** Sizes of a [[RingAccess]]. */
object RingAccess {

  /** Of a descriptor. */
  val dataBits: Int = 128
}
