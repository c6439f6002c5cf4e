package rackwright.memory

import chisel3._
import circt.stage.ChiselStage
import org.scalatest.funsuite.AnyFunSuite

/** A memory has the ports that a macro has, and the name of the value that holds it. */
class SramTest extends AnyFunSuite {

  /** A memory that is read and written in so many places. */
  private class Ports(reads: Int, writes: Int) extends Module {
    val address = IO(Input(UInt(4.W)))
    val word = IO(Input(UInt(8.W)))
    val out = IO(Output(Vec(reads, UInt(8.W))))
    private val kept = Sram(16, UInt(8.W))
    for (port <- 0 until reads) out(port) := kept.read(address ^ port.U, true.B)
    for (port <- 0 until writes) kept.write(address ^ port.U, word)
  }

  private def refusal(reads: Int, writes: Int): String =
    intercept[IllegalArgumentException](ChiselStage.elaborate(new Ports(reads, writes))).getMessage

  test("one port to read and one to write") {
    assert(ChiselStage.emitCHIRRTL(new Ports(1, 1)).contains("smem kept"))
  }

  test("a second port is refused, with the memory's name") {
    assert(refusal(2, 1).contains("kept is read in two places"))
    assert(refusal(1, 2).contains("kept is written in two places"))
  }

  test("a file of registers is read in several places, in the same cycle") {
    class Registers extends Module {
      val address = IO(Input(UInt(2.W)))
      val word = IO(Input(UInt(8.W)))
      val out = IO(Output(UInt(8.W)))
      private val kept = RegisterFile(4, UInt(8.W))
      kept.write(address, word)
      out := kept.read(address) ^ kept.read(address + 1.U)
    }
    assert(ChiselStage.emitCHIRRTL(new Registers).contains("cmem kept"))
  }
}
