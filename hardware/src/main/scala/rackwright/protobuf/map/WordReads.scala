package rackwright.protobuf.map

import chisel3._
import chisel3.util._

import rackwright.protobuf.table.DescriptorTable

/** A 64-bit word of memory, or a fault. */
class LoadedWord extends Bundle {
  val data = UInt(64.W)
  val fault = Bool()

  /** The word as the address of an object; it must be a multiple of 8, below 2^48 and not null. */
  def pointer: UInt = data(DescriptorTable.addressBits - 1, 0)
  def isWild: Bool = LoadedWord.isWild(data)
}

/** The bits that are zero in pointers to objects. */
object LoadedWord {
  def isWild(pointer: UInt): Bool =
    (pointer >> DescriptorTable.addressBits).orR || pointer(2, 0).orR || pointer === 0.U
}

/** Reads words, one at a time: the response comes in a later cycle than the request, and cannot be stalled. */
class WordRead extends Bundle {
  val request = Decoupled(UInt(DescriptorTable.addressBits.W))
  val answer = Flipped(Valid(new LoadedWord))

  /** Whether a response is outstanding; with `clear`, it is discarded. */
  def isUnderWay(clear: Bool): Bool = {
    val isUnderWay = RegInit(false.B)
    isUnderWay := !clear && (request.fire || (isUnderWay && !answer.valid))
    isUnderWay
  }
}

/** Arbitrates between several readers of words; the first one has precedence. */
class WordReads(count: Int) extends Module {
  val readers = IO(Vec(count, Flipped(new WordRead)))
  val memory = IO(new WordRead)

  /** Discard outstanding reads. */
  val clear = IO(Input(Bool()))

  private val arbiter = Module(new Arbiter(UInt(DescriptorTable.addressBits.W), count))
  private val under = memory.isUnderWay(clear)
  private val reader = Reg(UInt(log2Ceil(count).W))
  arbiter.io.in.zip(readers).foreach { case (in, port) => in <> port.request }
  arbiter.io.out.ready := memory.request.ready && !under
  memory.request.valid := arbiter.io.out.valid && !under
  memory.request.bits := arbiter.io.out.bits
  when(memory.request.fire) { reader := arbiter.io.chosen }
  private val answered = RegNext(memory.answer.valid && !clear, false.B)
  private val answer = RegEnable(memory.answer.bits, memory.answer.valid)
  for ((port, index) <- readers.zipWithIndex) {
    port.answer.valid := answered && reader === index.U
    port.answer.bits := answer
  }
}
