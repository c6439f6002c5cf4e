package rackwright.daronpon

import _root_.circt.stage.ChiselStage
import org.scalatest.funsuite.AnyFunSuite

/** Which dispatchers may be built. */
class DaronponTest extends AnyFunSuite {
  private def refused(params: => Params): String = intercept[IllegalArgumentException](params).getMessage

  test("sizes out of range name the parameter and the value") {
    assert(refused(Params(services = 17)).contains("services is from 1 to 16, not 17"))
    assert(refused(Params(replicas = 12)).contains("replicas is a power of two from 2 to 64, not 12"))
    assert(refused(Params(peers = 64)).contains("peers is a power of two from 2 to 32, not 64"))
    assert(refused(Params(flights = 32)).contains("flights is a power of two from 64 to 65536, not 32"))
  }

  test("registers are those of the tables that it has") {
    val few = Registers.of(Params(1, 2, 2, 64))
    val many = Registers.of(Params(16, 64, 32))
    assert(few("replicas").offsets == Seq(0x400, 0x410))
    assert(many.registers.map(_.offsets.size).sum > few.registers.map(_.offsets.size).sum)
  }

  test("the buffer holds the longest frame") {
    assert(Daronpon.bufferedFlits * Sizes.flitBytes > Sizes.maxFrameBytes)
  }

  test("the smallest elaborates") {
    assert(ChiselStage.emitCHIRRTL(new Daronpon(Params(1, 2, 2, 64))).contains("module Daronpon"))
  }
}
