package rackwright.port

import org.scalatest.funsuite.AnyFunSuite

/** Maps that no unit may have are refused with the names of the registers. */
class RegisterMapTest extends AnyFunSuite {
  private def register(name: String, offset: Int, count: Int = 1): Register =
    Register(name, offset, "read-write", "", Seq.empty, count = count)
  private def refused(registers: Register*): String =
    intercept[IllegalArgumentException](RegisterMap(registers)).getMessage

  test("two registers in one place are refused") {
    assert(refused(register("table", 0, count = 3), register("rate", 16)).contains("table and rate are both at 16"))
  }

  test("names are told apart, and registers are words of a page") {
    assert(refused(register("rate", 0), register("rate", 8)).contains("share a name"))
    assert(refused(register("rate", 4)).contains("register rate is at 4"))
    assert(refused(register("rate", 4096)).contains("register rate is at 4096"))
  }
}
