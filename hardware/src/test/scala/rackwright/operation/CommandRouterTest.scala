package rackwright.operation

import circt.stage.ChiselStage
import org.scalatest.funsuite.AnyFunSuite

import rackwright.port.MemoryPortParams

/** Shapes of the command router. */
class CommandRouterTest extends AnyFunSuite {
  private val port = MemoryPortParams(32)

  test("settings become fields of the operation") {
    val settings = Seq(Setting("history", 4, 17, 65536, "bytes"), Setting("table", 5, 5, 14, "log2 of entries"))
    val text = ChiselStage.emitCHIRRTL(new CommandRouter(0, settings, 4, port))
    assert(text.contains("history : UInt<17>"))
    assert(text.contains("table : UInt<5>"))
  }

  test("a setting can't take the number of a command") {
    assert(intercept[IllegalArgumentException](Setting("mine", 17, 8, 0, "a number")).getMessage.contains(
      "functs of settings"
    ))
  }

  test("a default fits its setting") {
    assert(intercept[IllegalArgumentException](Setting("mine", 4, 3, 8, "a number")).getMessage.contains(
      "needs more than 3 bits"
    ))
  }

  test("two settings can't share a number") {
    val settings = Seq(Setting("one", 4, 8, 0, "a number"), Setting("two", 4, 8, 0, "another"))
    val error = intercept[IllegalArgumentException](ChiselStage.elaborate(new CommandRouter(0, settings, 4, port)))
    assert(error.getMessage.contains("share a funct"))
  }
}
