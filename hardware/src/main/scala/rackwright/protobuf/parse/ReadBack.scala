package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.port.{MemoryPort, MemoryPortParams}
import rackwright.protobuf.table.DescriptorTable

/** A read of memory that the unit has written: `bytes`, 1 to 24, from an address that is a multiple of 4. */
class ReadBackRequest extends Bundle {
  val address = UInt(DescriptorTable.addressBits.W)
  val bytes = UInt(5.W)

  /** The bytes were written so long ago that no outstanding store can affect them. */
  val settled = Bool()
}

/** The bytes, the first one lowest; others are undefined. */
class ReadBackResponse extends Bundle {
  val data = UInt((8 * ReadBack.mostBytes).W)
  val fault = Bool()

  def word(index: Int): UInt = data(64 * index + 63, 64 * index)
}

/** Constants of a [[ReadBack]]. */
object ReadBack {
  val mostBytes: Int = 24
}

/** Reads memory that the unit may have written itself: waits until every store has been answered, then reads one or two
  * beats.
  */
class ReadBack(port: MemoryPortParams) extends Module {

  /** Held until the response. */
  val request = IO(Flipped(Valid(new ReadBackRequest)))
  val response = IO(Valid(new ReadBackResponse))

  /** To the stores: write out all; whether all have been answered. */
  val drain = IO(Output(Bool()))
  val quiet = IO(Input(Bool()))

  /** Reads only. */
  val memory = IO(new MemoryPort(port))

  private val asked = RegInit(0.U(2.W))
  private val answered = RegInit(0.U(2.W))
  private val aligned = Reg(Vec(ReadBack.mostBytes / 4, UInt(32.W)))
  private val fault = RegInit(false.B)

  // The request is registered.
  private val isKept = RegInit(false.B)
  private val kept = Reg(new ReadBackRequest)
  when(!isKept) { kept := request.bits }
  isKept := request.valid && !response.valid

  private val first = kept.address >> port.offsetBits
  private val offset = kept.address(port.offsetBits - 1, 0)
  private val crosses = (offset +& kept.bytes - 1.U)(port.offsetBits)
  private val wanted = Mux(crosses, 2.U(2.W), 1.U(2.W))

  drain := isKept && !kept.settled
  private val ready = isKept && (quiet || kept.settled)
  memory.request.valid := ready && asked < wanted
  memory.request.bits.read(Cat(Mux(asked === 0.U, first, first + 1.U), 0.U(port.offsetBits.W)), asked)
  memory.response.ready := true.B

  asked := asked + memory.request.fire
  // Words of the first beat or the next one are placed as they arrive.
  private val words = memory.response.bits.data.asTypeOf(Vec(port.bytes / 4, UInt(32.W)))
  when(memory.response.valid) {
    for ((word, index) <- aligned.zipWithIndex) {
      val place = (offset >> 2) +& index.U
      val inFirst = place < words.length.U
      when(memory.response.bits.tag(0) =/= inFirst) { word := words(place(log2Ceil(words.length) - 1, 0)) }
    }
    answered := answered + 1.U
    when(memory.response.bits.fault) { fault := true.B }
  }
  response.valid := isKept && answered === wanted
  response.bits.data := aligned.asUInt
  response.bits.fault := fault
  when(response.valid) {
    asked := 0.U
    answered := 0.U
    fault := false.B
  }
}
