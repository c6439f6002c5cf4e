package rackwright.memory

import chisel3._
import chisel3.util._

/** A memory with one read and one write port, whose read sees the write of the same cycle.
  *
  * The word is forwarded here, as the answer of a real memory macro to that case is not defined.
  *
  * @param words
  *   number of words.
  * @param bits
  *   width of a word.
  */
class WriteFirstMemory(words: Int, bits: Int) extends Module {
  private val addressBits = log2Ceil(words)

  val read = IO(Flipped(Valid(UInt(addressBits.W))))

  /** The word requested in the previous cycle. */
  val data = IO(Output(UInt(bits.W)))
  val write = IO(Flipped(Valid(new Bundle {
    val address = UInt(addressBits.W)
    val data = UInt(bits.W)
  })))

  private val memory = Sram(words, UInt(bits.W))
  when(write.valid) { memory.write(write.bits.address, write.bits.data) }

  private val collides = read.valid && write.valid && read.bits === write.bits.address
  private val forward = RegNext(collides, false.B)
  // Stored in every cycle, because reads are known late; used only after a collision.
  private val forwarded = RegNext(write.bits.data)
  data := Mux(forward, forwarded, memory.read(read.bits, read.valid))
}
