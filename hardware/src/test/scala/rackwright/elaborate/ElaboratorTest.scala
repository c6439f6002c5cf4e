package rackwright.elaborate

import java.nio.file.{Files, Path}

import org.scalatest.funsuite.AnyFunSuite

import rackwright.unit.UsageError

/** Elaboration of the copy unit, in each shape of its ports. */
class ElaboratorTest extends AnyFunSuite {
  private def elaborate(more: String*): (Path, ujson.Value) = {
    val out = Files.createTempDirectory("elaborated")
    Arguments.parse(Seq("--unit", "stream-copy", "--out", out.toString) ++ more) match {
      case request: Elaborate => Elaborator.write(request)
      case other => fail(s"not an elaboration: $other")
    }
    (out, ujson.read(Files.readString(out.resolve("manifest.json"))))
  }

  private def ports(manifest: ujson.Value): Seq[(String, String)] =
    manifest("ports").arr.map(port => port("contract").str -> port("name").str).toSeq

  private def verilog(out: Path, manifest: ujson.Value): String =
    Files.readString(out.resolve(manifest("verilog")(0).str))

  test("the manifest names the pins of the Verilog") {
    val (out, manifest) = elaborate()
    val text = verilog(out, manifest)
    assert(ports(manifest).take(3) == Seq("command" -> "command", "memory" -> "read", "memory" -> "write"))
    for (pin <- Seq("command_request_bits_funct", "read_request_bits_tag", "write_response_bits_fault", "event_busy"))
      assert(text.contains(pin), pin)
    assert(text.contains(s"module ${manifest("top").str}("))
  }

  test("the manifest says where the unit may be attached, and adapters keep that") {
    for (more <- Seq(Seq.empty, Seq("--memory", "axi4"), Seq("--translation", "on"))) {
      val (_, manifest) = elaborate(more: _*)
      assert(manifest("format").num == 2)
      assert(manifest("clocks")(0)("pin").str == "clock")
      assert(manifest("attach").arr.map(_.str) == Seq("hart"))
    }
  }

  test("the same request gives the same text") {
    val (first, second) = (elaborate(), elaborate())
    assert(first._2 == second._2)
    assert(verilog(first._1, first._2) == verilog(second._1, second._2))
  }

  test("parameters change the design and its hash") {
    val (_, wide) = elaborate()
    val (_, narrow) = elaborate("--set", "port-bytes=16")
    assert(wide("hash") != narrow("hash"))
    assert(narrow("ports")(1)("bytes").num == 16)
    assert(narrow("parameters")("port-bytes").num == 16)
  }

  test("adapters change the ports and keep the names") {
    val (out, manifest) = elaborate("--command", "mmio", "--memory", "axi4")
    assert(manifest("top").str == "StreamCopyMmioAxi4")
    assert(ports(manifest).take(3) == Seq("mmio" -> "mmio", "axi4" -> "read", "axi4" -> "write"))
    val text = verilog(out, manifest)
    for (pin <- Seq("mmio_request_bits_data", "read_ar_bits_addr", "write_w_bits_strb", "idle"))
      assert(text.contains(pin), pin)
  }

  test("translation adds a port for walks and says so") {
    val (out, manifest) = elaborate("--translation", "on")
    assert(manifest("top").str == "StreamCopyTranslated")
    assert(manifest("ports")(0)("translated").bool)
    assert(ports(manifest).contains("memory" -> "walk"))
    val text = verilog(out, manifest)
    for (pin <- Seq("command_request_bits_context_satp", "command_fence", "walk_request_bits_address"))
      assert(text.contains(pin), pin)
  }

  test("without translation nothing of it is there") {
    val (_, plain) = elaborate()
    val (_, off) = elaborate("--translation", "off")
    assert(plain("hash") == off("hash"))
    assert(!ports(plain).contains("memory" -> "walk"))
  }

  test("translation goes with commands of a core only") {
    val error = intercept[UsageError](elaborate("--translation", "on", "--command", "mmio"))
    assert(error.message.contains("--command rocc"))
  }

  test("the list has every unit with its parameters") {
    val list = UnitList.json(Units.all)("units").arr
    assert(list.map(_("name").str) == Units.all.map(_.name))
    assert(list.forall(unit => unit("ports").arr.nonEmpty))
  }

  test("a line of requests is what its command lines are, and a bad one says so before anything is written") {
    val out = Files.createTempDirectory("elaborated")
    val lines = Seq(16, 32).map(bytes =>
      Seq("--unit", "stream-copy", "--set", s"port-bytes=$bytes", "--out", out.resolve(s"$bytes").toString)
    )
    def parse(requests: Seq[Seq[String]]): Seq[Elaborate] = Arguments.requests(ujson.write(requests))
    parse(lines).foreach(Elaborator.write)
    for (bytes <- Seq("16", "32")) {
      val (alone, _) = elaborate("--set", s"port-bytes=$bytes")
      val together = Files.readString(out.resolve(s"$bytes/manifest.json"))
      assert(together == Files.readString(alone.resolve("manifest.json")))
    }
    val refused = intercept[UsageError](parse(lines :+ (lines.head ++ Seq("--set", "hash-log2=5"))))
    assert(refused.getMessage.contains("hash-log2"))
    for (line <- Seq("{}", "[[1]]", "", "[")) {
      assert(intercept[UsageError](Arguments.requests(line)).getMessage.contains("JSON list"))
    }
  }
}
