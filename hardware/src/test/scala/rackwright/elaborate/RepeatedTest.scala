package rackwright.elaborate

import org.scalatest.funsuite.AnyFunSuite

/** Texts in the form of firtool's. */
class RepeatedTest extends AnyFunSuite {
  private def module(name: String, lines: Int, children: (String, Int)*): String = {
    val body = Seq.fill(lines)(s"  assign a = ${"b" * 86};")
    val instances = for ((child, count) <- children; i <- 0 until count) yield s"  $child part_$i (\n    .a (b)\n  );"
    (s"module $name(" +: "  input a\n);" +: (body ++ instances) :+ "endmodule\n").mkString("\n")
  }

  private def design(lines: Int): String = Seq(
    module("Lane", lines),
    module("Slice", 100, "Lane" -> 8),
    module("Bank", lines),
    module("Other", 9),
    module("Pair", lines),
    module("Top", 1000, "Slice" -> 16, "Bank" -> 8, "Other" -> 20, "Pair" -> 2)
  ).mkString("\n")

  test("repeated modules of a large design are compiled once, with what is in them") {
    val found = Repeated.directives(design(600))
    assert(found.linesIterator.filter(_.contains("no_inline")).toSeq ==
      Seq("no_inline -module \"Bank\"", "no_inline -module \"Slice\""))
    assert(found.startsWith("`ifdef VERILATOR\n`verilator_config\n") && found.endsWith("`verilog\n`endif\n"))
  }

  test("other designs are left as they are") {
    assert(Repeated.directives(design(300)) == "")
  }
}
