package rackwright.lz77.encode

import chisel3._
import chisel3.util._

import rackwright.memory.Sram

import EncoderParams._

/** The latest bytes of the input, readable from any position.
  *
  * Eight banks of words, so that any `viewBytes` bytes are in different banks. One cycle from `read` to `bytes`. The
  * word written in the cycle of a read must not be needed by it: the window writes further ahead than a probe reads.
  *
  * @param params
  *   sizes of the encoder.
  */
class EncoderHistory(params: EncoderParams) extends Module {
  private val bankBits = 3
  private val addressBits = log2Ceil(params.historyBytes)
  private val rowBits = addressBits - 3 - bankBits

  val write = IO(Flipped(Valid(new HistoryWrite(params))))

  /** Position of the first byte, modulo the size of the history. */
  val read = IO(Flipped(Valid(UInt(addressBits.W))))

  /** The `viewBytes` bytes from the position read in the cycle before. */
  val bytes = IO(Output(UInt((8 * viewBytes).W)))

  private val firstWord = read.bits >> 3
  private val firstRow = firstWord >> bankBits
  private val firstBank = firstWord(bankBits - 1, 0)

  private val words = VecInit.tabulate(1 << bankBits) { number =>
    val memory = Sram(1 << rowBits, UInt(64.W))
    when(write.valid && write.bits.word(bankBits - 1, 0) === number.U) {
      memory.write(write.bits.word >> bankBits, write.bits.data)
    }
    val wrapped = firstBank > number.U
    memory.read((firstRow + wrapped)(rowBits - 1, 0), read.valid)
  }

  private val bank = RegEnable(firstBank, read.valid)
  private val shift = RegEnable(read.bits(2, 0), read.valid)
  private val wordsNeeded = (viewBytes + 7 + 7) / 8
  private val line = Cat((0 until wordsNeeded).reverse.map(i => words((bank + i.U)(bankBits - 1, 0))))
  bytes := (line >> Cat(shift, 0.U(3.W)))(8 * viewBytes - 1, 0)
}
