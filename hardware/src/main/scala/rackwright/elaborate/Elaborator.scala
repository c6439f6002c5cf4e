package rackwright.elaborate

import java.nio.file.Files

import circt.stage.ChiselStage

import rackwright.unit.{HardwareUnit, Manifest}

/** Turns a unit into Verilog and a manifest. */
object Elaborator {

  /** Options of firtool: readable output for simulators, with the same text in every run.
    *
    * Registers start without random values: a unit is reset before it is used, and a run must not depend on a seed.
    * Layers, which contain assertions, are included or not: they are omitted for synthesis. By itself, firtool verifies
    * its own data after each of its passes, which takes two thirds of its time.
    */
  private def firtoolOptions(assertions: Boolean) = Array(
    "-disable-all-randomization",
    "--strip-debug-info",
    "--verify-each=false",
    s"--default-layer-specialization=${if (assertions) "enable" else "disable"}",
    "--lowering-options=disallowPackedArrays,disallowLocalVariables,noAlwaysComb,emittedLineLength=120"
  )

  /** The design requested on the command line: its top module and its Verilog. */
  def verilog(request: Elaborate): (HardwareUnit, String) = {
    var top: Option[HardwareUnit] = None
    val text = ChiselStage.emitSystemVerilog(
      {
        val unit = request.adapters(request.description.build(request.values))
        top = Some(unit)
        unit
      },
      firtoolOpts = firtoolOptions(request.assertions)
    )
    (top.get, text + Repeated.directives(text))
  }

  /** Writes `<Top>.sv` and `manifest.json` into the directory of `request`. */
  def write(request: Elaborate): Unit = {
    val (design, text) = verilog(request)
    val file = s"${design.name}.sv"
    val manifest = Manifest(request.description.name, design, Seq(file -> text), request.values.json)
    Files.createDirectories(request.out)
    Files.writeString(request.out.resolve(file), text)
    Files.writeString(request.out.resolve("manifest.json"), ujson.write(manifest, indent = 2) + "\n")
  }
}
