package rackwright.combined

import chisel3._
import chisel3.util._

import rackwright.compression.FormatPort

/** Connects the compressor to the boxes of the selected format; the others receive no input.
  *
  * @param params
  *   of the compressor.
  */
class FormatSelect(params: CombinedCompressorParams) extends Module {
  val compressor = IO(new FormatPort(params))

  /** One per algorithm, in their order. */
  val formats = IO(MixedVec(params.formats.map(format => Flipped(new FormatPort(format)))))

  private val code = compressor.settings.elements(params.algorithm.name)
  private val chosen = params.algorithms.map(_.asked(code))
  private def ofChosen[T <: Data](value: FormatPort => T): T = Mux1H(chosen, formats.map(value))

  formats.lazyZip(params.algorithms).lazyZip(chosen).foreach { case (format, algorithm, on) =>
    format.start.valid := compressor.start.valid && on
    format.start.bits := compressor.start.bits
    format.settings.elements.foreach { case (name, value) =>
      value := compressor.settings.elements.getOrElse(name, algorithm.option(code))
    }
    format.sequence.valid := compressor.sequence.valid && on
    format.sequence.bits := compressor.sequence.bits
    format.literals := compressor.literals
    format.input := compressor.input
    format.inputCount := Mux(on, compressor.inputCount, 0.U)
    format.output.ready := compressor.output.ready
  }
  compressor.sequence.ready := ofChosen(_.sequence.ready)
  compressor.consume := ofChosen(_.consume.pad(compressor.consume.getWidth))
  compressor.roomy := ofChosen(_.roomy)
  compressor.output.valid := ofChosen(_.output.valid)
  compressor.output.bits.data := ofChosen(
    _.output.bits.data.asUInt.pad(8 * params.chunkBytes)
  ).asTypeOf(compressor.output.bits.data)
  compressor.output.bits.count := ofChosen(_.output.bits.count.pad(compressor.output.bits.count.getWidth))
  compressor.finished := ofChosen(_.finished)
  compressor.busy := formats.map(_.busy).reduce(_ || _)
}
