package rackwright.unit

import org.scalatest.funsuite.AnyFunSuite

/** Checks of parameters: what is refused, and what the user then reads. */
class ParameterTest extends AnyFunSuite {
  private val parameters = Seq(
    Parameter.choice("port-bytes", 32, Seq(16, 32), "bytes per beat"),
    Parameter.powerOfTwo("history-kib", 64, 2, 64, "KiB of history"),
    Parameter.integer("command-queue", 4, 1 to 8, "operations"),
    Parameter.word("hash-function", "multiplicative", Seq("multiplicative", "xor-fold"), "hash")
  )

  private def refusal(chosen: (String, String)*): String =
    intercept[UsageError](ParameterValues(parameters, chosen.toMap)).message

  test("defaults hold where nothing is said") {
    val values = ParameterValues(parameters, Map("history-kib" -> "2"))
    assert(values.int("history-kib") == 2)
    assert(values.int("port-bytes") == 32)
    assert(values.word("hash-function") == "multiplicative")
    assert(ujson.write(values.json).startsWith("""{"port-bytes":32,"history-kib":2,"""))
  }

  test("a refusal names the parameter, the value and the range") {
    assert(refusal("port-bytes" -> "64") == "port-bytes: 64 is not allowed; one of 16, 32")
    assert(refusal("history-kib" -> "3") == "history-kib: 3 is not allowed; a power of two from 2 to 64")
    assert(refusal("command-queue" -> "0") == "command-queue: 0 is not allowed; from 1 to 8")
    assert(refusal("command-queue" -> "many") == "command-queue: many is not allowed; from 1 to 8")
    assert(refusal("hash-function" -> "sha") == "hash-function: sha is not allowed; one of multiplicative, xor-fold")
    assert(refusal("colour" -> "red").startsWith("colour is not a parameter of this unit"))
  }
}
