package rackwright.soc

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}

import chisel3.stage.ChiselCircuitAnnotation
import chisel3.stage.phases.Convert
import firrtl.stage.{FirrtlStage, RunFirrtlTransformAnnotation}
import freechips.rocketchip.diplomacy.LazyModule
import freechips.rocketchip.util.ElaborationArtefacts

/** Writes the Verilog of a SoC.
  *
  * Arguments: the file of its `SocSpec`, and the folder for what is made: `TOP.v` and `TOP.dts`, and `TOP.conf` with a
  * list of memories if they are apart.
  */
object Main {
  def main(arguments: Array[String]): Unit = {
    val spec = SocSpec.read(Paths.get(arguments(0)))
    val folder = Paths.get(arguments(1))
    Files.createDirectories(folder)
    verilog(spec, folder)
    ElaborationArtefacts.files.find(_._1 == "dts").foreach { case (_, text) =>
      write(folder.resolve(s"${spec.top}.dts"), text())
    }
  }

  private def verilog(spec: SocSpec, folder: Path): Unit = {
    val circuit = chisel3.Driver.elaborate { () =>
      LazyModule(new Soc(spec)(new SocConfig(spec).toInstance)).module
    }
    val annotations = (new Convert).transform(Seq(ChiselCircuitAnnotation(circuit)))
    val trace = RunFirrtlTransformAnnotation(new WithoutTrace)
    val memories =
      if (spec.memoriesApart) Seq("--repl-seq-mem", s"-c:${spec.top}:-o:${folder.resolve(s"${spec.top}.conf")}")
      else Nil
    val options =
      Array("--compiler", "verilog", "--target-dir", folder.toString, "--output-file", spec.top) ++ memories
    (new FirrtlStage).execute(options, trace +: annotations)
  }

  private def write(path: Path, text: String): Unit = Files.write(path, text.getBytes(UTF_8))
}
