package rackwright.store

import chisel3._
import chisel3.util._

import rackwright.memory.Sram

/** Where a word of a key is kept. */
class KeyPlace(params: Params) extends Bundle {
  val slot = UInt(params.slotBits.W)
  val word = UInt(log2Ceil(Limits.keyLines * Grain.words).W)
  val data = UInt(64.W)
}

/** Which line of a key is wanted. */
class KeyLine(params: Params) extends Bundle {
  val slot = UInt(params.slotBits.W)
  val line = UInt(Limits.lineBits.W)
}

/** The keys of the requests under way, in lines as items have them. */
class KeyMemory(params: Params) extends Module {
  val write = IO(Flipped(Valid(new KeyPlace(params))))
  val read = IO(Flipped(Valid(new KeyLine(params))))

  /** In the next cycle. */
  val line = IO(Output(Vec(Grain.words, UInt(64.W))))

  private val lines = Sram(Limits.keyLines << params.slotBits, Vec(Grain.words, UInt(64.W)))
  when(write.valid) {
    val lane = write.bits.word(log2Ceil(Grain.words) - 1, 0)
    lines.write(
      Cat(write.bits.word >> log2Ceil(Grain.words), write.bits.slot),
      VecInit.fill(Grain.words)(write.bits.data),
      UIntToOH(lane, Grain.words).asBools
    )
  }
  line := lines.read(Cat(read.bits.line, read.bits.slot), read.valid)
}

/** How the bytes of a key are spread over lines. */
object KeyLines {

  /** The words of a key, from 1 to 32. */
  def words(keyBytes: UInt): UInt = (keyBytes +& 7.U)(Limits.keyBits, 3)

  /** The number of its last line. */
  def last(words: UInt): UInt = ((words - 1.U) >> log2Ceil(Grain.words))(Limits.lineBits - 1, 0)

  /** Which words of a line belong to it. */
  def mask(words: UInt, line: UInt): Vec[Bool] =
    VecInit.tabulate(Grain.words)(i => Cat(line, i.U(log2Ceil(Grain.words).W)) < words)
}
