package rackwright.elaborate

import org.scalatest.funsuite.AnyFunSuite

import rackwright.unit.UsageError

/** Checks of the command line: what is refused, and what the user then reads. */
class ArgumentsTest extends AnyFunSuite {
  test("the command line says what it does not understand") {
    def message(arguments: String*): String = intercept[UsageError](Arguments.parse(arguments)).message
    assert(message("--unit", "no-such", "--out", "x").startsWith("no unit is named no-such"))
    assert(message("--class", "no.Such", "--out", "x") == "class no.Such is not on the class path")
    assert(
      message("--class", "java.lang.Object", "--out", "x").contains("is not a rackwright.unit.UnitDescription")
    )
    assert(message("--unit", "stream-copy").startsWith("--out says where"))
    assert(message("--unit", "stream-copy", "--out", "x", "--memory", "ahb").contains("one of port, axi4"))
    assert(message("--unit", "stream-copy", "--out", "x", "--set", "outstanding").contains("PARAMETER=VALUE"))
    assert(message("--verbose", "yes").startsWith("--verbose is not an option"))
  }

  test("a unit of the user's is found by its class") {
    assert(Units.ofClass("rackwright.copy.StreamCopyDescription").name == "stream-copy")
  }
}
