package rackwright.drx

import chisel3._
import chisel3.util._

import rackwright.memory.Sram

/** Holds the program; a row of one beat is written at once, and one instruction is read. */
class InstructionMemory(params: Params) extends Module {
  private val rowWords = params.portBytes * 8 / Isa.wordBits
  private val rows = params.instructions / rowWords

  /** A row of instructions, the first in the low bits. */
  val write = IO(Flipped(Valid(new Bundle {
    val row = UInt(log2Ceil(rows).W)
    val words = UInt((8 * params.portBytes).W)
  })))

  /** The instruction to read in the next cycle. */
  val index = IO(Input(UInt(params.indexBits.W)))
  val word = IO(Output(UInt(Isa.wordBits.W)))

  private val program = Sram(rows, UInt((8 * params.portBytes).W))
  when(write.valid) { program.write(write.bits.row, write.bits.words) }
  private val row = program.read((index >> log2Ceil(rowWords))(log2Ceil(rows) - 1, 0), true.B)
  private val place = RegNext(index(log2Ceil(rowWords) - 1, 0))
  word := row.asTypeOf(Vec(rowWords, UInt(Isa.wordBits.W)))(place)
}
