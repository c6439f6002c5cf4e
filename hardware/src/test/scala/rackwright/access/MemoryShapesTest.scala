package rackwright.access

import chisel3._
import circt.stage.ChiselStage
import org.scalatest.funsuite.AnyFunSuite

import rackwright.memory.SramQueue
import rackwright.port.MemoryPortParams

/** Shapes of the memory blocks: every combination that the units use elaborates, others are refused with a reason. */
class MemoryShapesTest extends AnyFunSuite {
  private def elaborates(module: => RawModule): Unit = ChiselStage.elaborate(module)

  test("a loader offers 16 to 64 bytes from either port") {
    for (bytes <- Seq(16, 32); stream <- Seq(16, 32, 64))
      elaborates(new StreamLoader(MemoryPortParams(bytes), stream, 64))
  }

  test("a writer takes chunks narrower and wider than a beat") {
    for (bytes <- Seq(16, 32); chunk <- Seq(8, 16, 32, 64))
      elaborates(new StreamWriter(MemoryPortParams(bytes), chunk, 64))
  }

  test("lines are read and written as wide as either port, and a queue has a power of two of entries") {
    for (bytes <- Seq(16, 32)) {
      elaborates(new BeatLoader(MemoryPortParams(bytes), 64))
      elaborates(new LineWriter(MemoryPortParams(bytes), 64))
    }
    val error = intercept[IllegalArgumentException](elaborates(new SramQueue(UInt(8.W), 12)))
    assert(error.getMessage.contains("a power of two from 2, not 12"))
  }

  test("more outstanding than the tag can name is refused") {
    val error = intercept[IllegalArgumentException](elaborates(new StreamLoader(MemoryPortParams(32, 4), 32, 64)))
    assert(error.getMessage.contains("64 beats outstanding need more than 4 tag bits"))
  }

  test("a port is 16 or 32 bytes wide") {
    val error = intercept[IllegalArgumentException](MemoryPortParams(64))
    assert(error.getMessage.contains("16 or 32 bytes per beat, not 64"))
  }

  test("the shared port of an arbiter has room for who asked") {
    assert(MemoryArbiter.downstream(MemoryPortParams(32, 6), 2).tagBits == 7)
    assert(MemoryArbiter.downstream(MemoryPortParams(32, 6), 3).tagBits == 8)
  }
}
