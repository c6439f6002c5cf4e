package rackwright.store

import chisel3._
import chisel3.util._

import rackwright.memory.Sram

/** The address of a word of a key. */
class KeyPlace(params: Params) extends Bundle {
  val slot = UInt(params.slotBits.W)
  val word = UInt(log2Ceil(Limits.keyLines * Grain.words).W)
  val data = UInt(64.W)
}

/** The address of a line of a key. */
class KeyLine(params: Params) extends Bundle {
  val slot = UInt(params.slotBits.W)
  val line = UInt(Limits.lineBits.W)
}

/** Stores the keys of the requests in flight, in the same lines as items in memory. */
class KeyMemory(params: Params) extends Module {
  val write = IO(Flipped(Valid(new KeyPlace(params))))
  val read = IO(Flipped(Valid(new KeyLine(params))))

  /** Valid in the next cycle. */
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

/** The arrangement of the bytes of a key in lines. */
object KeyLines {

  /** The words of a key, from 1 to 32. */
  def words(keyBytes: UInt): UInt = (keyBytes +& 7.U)(Limits.keyBits, 3)

  /** The index of its last line. */
  def last(words: UInt): UInt = ((words - 1.U) >> log2Ceil(Grain.words))(Limits.lineBits - 1, 0)

  /** The words of a line that belong to the key. */
  def mask(words: UInt, line: UInt): Vec[Bool] =
    VecInit.tabulate(Grain.words)(i => Cat(line, i.U(log2Ceil(Grain.words).W)) < words)
}
