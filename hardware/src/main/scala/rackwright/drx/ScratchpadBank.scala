package rackwright.drx

import chisel3._
import chisel3.util._

import rackwright.memory.Sram

/** A bank of the scratchpad: a memory of its even lines, and one of its odd lines. At most one read and one write
  * access it in a cycle.
  */
class ScratchpadBank(params: Params) extends Module {

  /** Its number: an input, so that all banks are one module, which synthesis maps once. */
  val number = IO(Input(UInt(params.bankBits.W)))

  /** The accesses of this cycle that reach the bank. */
  val reads = IO(Vec(Scratchpad.readers, Flipped(Valid(new ScratchpadRead(params)))))
  val writes = IO(Vec(Scratchpad.writers, Flipped(Valid(new ScratchpadWrite(params)))))

  /** The even line and the odd line that the read of the cycle before reaches; any line if it reaches none. */
  val lines = IO(Output(Vec(2, UInt((8 * params.lineBytes).W))))

  private val read = Mux1H(reads.map(_.valid), reads.map(_.bits))
  private val write = Mux1H(writes.map(_.valid), writes.map(_.bits))
  private val (reading, writing) = (reads.map(_.valid).reduce(_ || _), writes.map(_.valid).reduce(_ || _))
  private def row(line: UInt): UInt = (line >> 1)(params.lineBits - params.bankBits - 2, 0)

  lines := VecInit(Seq(false.B, true.B).map { odd =>
    val memory = Sram(params.lines / params.banks / 2, Vec(params.lineBytes, UInt(8.W)))
    // An access across the border of two banks is written by the bank that owns each line.
    val first = write.line(0) === odd
    val place = Mux(first, write.line, Scratchpad.next(params, write.line))
    when(writing && Scratchpad.bankOf(params, place) === number) {
      val bytes = write.data.asTypeOf(Vec(params.lineBytes, UInt(8.W)))
      memory.write(row(place), bytes, Mux(first, write.lower, write.upper).asBools)
    }
    memory.read(row(Mux(read.line(0) === odd, read.line, read.lastLine)), reading).asUInt
  })
}
