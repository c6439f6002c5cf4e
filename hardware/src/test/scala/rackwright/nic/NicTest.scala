package rackwright.nic

import _root_.circt.stage.ChiselStage
import org.scalatest.funsuite.AnyFunSuite

import rackwright.network.Frame
import rackwright.nic.port.{Params, Registers}
import rackwright.nic.virtio.VirtioMap

/** Which network interfaces may be built. */
class NicTest extends AnyFunSuite {
  private def refused(params: => Params): String = intercept[IllegalArgumentException](params).getMessage

  test("sizes out of range name the parameter and the value") {
    assert(refused(Params(portBytes = 64)).contains("port-bytes is 16 or 32, not 64"))
    assert(refused(Params(outstanding = 8)).contains("outstanding is a power of two from 16 to 256, not 8"))
    assert(refused(Params(queueEntries = 3)).contains("queue-entries is a power of two from 2 to 64, not 3"))
    assert(refused(Params(bufferKib = 8)).contains("buffer-kib is a power of two from 16 to 1024, not 8"))
    assert(refused(Params(networkBytes = 32)).contains("network-bytes is 8 or 16, not 32"))
  }

  test("a wide one needs half of the clock for the same rate") {
    assert(Seq(8, 16).map(bytes => Params(networkBytes = bytes).hertz * bytes).toSet == Set(25600000000L))
  }

  test("the packet buffer holds the longest frame at any size") {
    assert(Params(bufferKib = 16).bufferFlits > Frame.maxBytes / Frame.flitBytes)
  }

  test("registers are in the lower half of a page, and those of the front end in the upper") {
    assert(Registers.map.registers.forall(_.offset < 0x800))
    assert(VirtioMap.map.registers.forall(_.offset >= 0x800))
  }

  test("smallest and largest elaborate") {
    for (
      params <- Seq(
        Params(32, 16, 2, 16),
        Params(16, 256, 64, 1024),
        Params(32, 16, 2, 16, virtio = true),
        Params(networkBytes = 16, virtio = true)
      )
    )
      assert(ChiselStage.emitCHIRRTL(new Nic(params)).contains("module Nic"))
  }
}
