package rackwright.protobuf

import chisel3._
import chisel3.util._

import rackwright.memory.{MemoryPort, MemoryPortParams}

/** Bytes that were written before and are wanted again: `bytes`, 1 to 24, from an address that is a multiple of 4. */
class ReadBackRequest extends Bundle {
  val address = UInt(DescriptorTable.addressBits.W)
  val bytes = UInt(5.W)

  /** The bytes were written so long ago that no store has to be awaited. */
  val settled = Bool()
}

/** The bytes, the first one lowest; only those asked for have a meaning. */
class ReadBackResponse extends Bundle {
  val data = UInt((8 * ReadBack.mostBytes).W)
  val fault = Bool()

  def word(index: Int): UInt = data(64 * index + 63, 64 * index)
}

/** Constants of a [[ReadBack]]. */
object ReadBack {
  val mostBytes: Int = 24
}

/** Reads what the unit may have written itself: first has every store written and answered, then reads one or two
  * beats.
  */
class ReadBack(port: MemoryPortParams) extends Module {

  /** Stays until the response comes. */
  val request = IO(Flipped(Valid(new ReadBackRequest)))
  val response = IO(Valid(new ReadBackResponse))

  /** To the stores, and whether all are answered. */
  val drain = IO(Output(Bool()))
  val quiet = IO(Input(Bool()))

  /** Reads only. */
  val memory = IO(new MemoryPort(port))

  private val asked = RegInit(0.U(2.W))
  private val answered = RegInit(0.U(2.W))
  private val beats = Reg(Vec(2, UInt((8 * port.bytes).W)))
  private val fault = RegInit(false.B)

  private val first = request.bits.address >> port.offsetBits
  private val last = (request.bits.address + request.bits.bytes - 1.U) >> port.offsetBits
  private val wanted = Mux(first === last, 1.U(2.W), 2.U(2.W))

  drain := request.valid && !request.bits.settled
  private val ready = request.valid && (quiet || request.bits.settled)
  memory.request.valid := ready && asked < wanted
  memory.request.bits.address := Cat(Mux(asked === 0.U, first, last), 0.U(port.offsetBits.W))
  memory.request.bits.write := false.B
  memory.request.bits.data := 0.U
  memory.request.bits.mask := 0.U
  memory.request.bits.tag := asked
  memory.response.ready := true.B

  asked := asked + memory.request.fire
  when(memory.response.valid) {
    beats(memory.response.bits.tag(0)) := memory.response.bits.data
    answered := answered + 1.U
    when(memory.response.bits.fault) { fault := true.B }
  }
  response.valid := request.valid && answered === wanted
  private val offset = request.bits.address(port.offsetBits - 1, 2)
  response.bits.data := beats.asUInt >> Cat(offset, 0.U(5.W))
  response.bits.fault := fault
  when(response.valid) {
    asked := 0.U
    answered := 0.U
    fault := false.B
  }
}
