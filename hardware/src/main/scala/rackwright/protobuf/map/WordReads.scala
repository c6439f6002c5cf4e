package rackwright.protobuf.map

import chisel3._
import chisel3.util._

import rackwright.protobuf.table.DescriptorTable

/** A 64-bit word of memory, or the news that it can't be read. */
class LoadedWord extends Bundle {
  val data = UInt(64.W)
  val fault = Bool()

  /** The word as the address of an object; it must be a multiple of 8, below 2^48 and not null. */
  def pointer: UInt = data(DescriptorTable.addressBits - 1, 0)
  def isWild: Bool = LoadedWord.isWild(data)
}

/** What pointers to objects can't be. */
object LoadedWord {
  def isWild(pointer: UInt): Bool =
    (pointer >> DescriptorTable.addressBits).orR || pointer(2, 0).orR || pointer === 0.U
}

/** Reads words, one at a time: the answer comes in a later cycle than the request and is taken at once. */
class WordRead extends Bundle {
  val request = Decoupled(UInt(DescriptorTable.addressBits.W))
  val answer = Flipped(Valid(new LoadedWord))

  /** Whether an answer is to come; with `clear`, nobody waits for it any more. */
  def isUnderWay(clear: Bool): Bool = {
    val isUnderWay = RegInit(false.B)
    isUnderWay := !clear && (request.fire || (isUnderWay && !answer.valid))
    isUnderWay
  }
}

/** Lets several readers read words in turns; the first one comes first. */
class WordReads(count: Int) extends Module {
  val readers = IO(Vec(count, Flipped(new WordRead)))
  val memory = IO(new WordRead)

  /** Forget what is under way. */
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
