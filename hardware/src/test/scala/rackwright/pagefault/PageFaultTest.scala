package rackwright.pagefault

import _root_.circt.stage.ChiselStage
import org.scalatest.funsuite.AnyFunSuite

/** Which page-fault units may be built. */
class PageFaultTest extends AnyFunSuite {
  private def refused(params: => Params): String = intercept[IllegalArgumentException](params).getMessage

  test("sizes out of range name the parameter and the value") {
    assert(refused(Params(faults = 3)).contains("faults is a power of two from 2 to 8, not 3"))
    assert(refused(Params(evictions = 32)).contains("evictions is a power of two from 2 to 16, not 32"))
    assert(refused(Params(queueEntries = 4)).contains("queue-entries is a power of two from 8 to 256, not 4"))
    assert(refused(Params(outstanding = 8)).contains("outstanding is a power of two from 16 to 256, not 8"))
  }

  test("smallest and largest elaborate") {
    for (params <- Seq(Params(2, 2, 8, 16), Params(8, 16, 256, 256)))
      assert(ChiselStage.emitCHIRRTL(new PageFault(params)).contains("module PageFault"))
  }
}
