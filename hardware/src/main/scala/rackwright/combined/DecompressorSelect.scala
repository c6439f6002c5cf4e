package rackwright.combined

import chisel3._
import chisel3.util._

import rackwright.compression.DecompressorPort

/** Connects the decompressor to the boxes of the selected format; the others are cleared, and consume no input.
  *
  * @param params
  *   of the decompressor.
  */
class DecompressorSelect(params: CombinedDecompressorParams) extends Module {
  val decompressor = IO(new DecompressorPort(params))

  /** One per algorithm, in their order. */
  val formats = IO(MixedVec(params.formats.map(format => Flipped(new DecompressorPort(format)))))

  private val code = decompressor.settings.elements(params.algorithm.name)

  /** A cycle late; an operation opens its input two cycles after its settings are known. */
  private val chosen = params.algorithms.map(algorithm => RegNext(algorithm.asked(code), false.B))

  /** The others, in registers of their own, as much hangs on being cleared. */
  private val others = params.algorithms.map(algorithm => RegNext(!algorithm.asked(code), true.B))
  private def ofChosen[T <: Data](value: DecompressorPort => T): T = Mux1H(chosen, formats.map(value))
  private def anyOf(value: DecompressorPort => Bool): Bool =
    formats.zip(chosen).map { case (format, on) => value(format) && on }.reduce(_ || _)

  formats.zip(others).foreach { case (format, off) => format.clear := decompressor.clear || off }
  formats.lazyZip(params.algorithms).lazyZip(chosen).foreach { case (format, algorithm, on) =>
    format.open.valid := decompressor.open.valid && on
    format.open.bits := decompressor.open.bits
    format.settings.elements.foreach { case (name, value) =>
      value := decompressor.settings.elements.getOrElse(name, algorithm.option(code))
    }
    format.limited := decompressor.limited
    format.end.foreach(_ := decompressor.end.get)
    format.stream.data := decompressor.stream.data
    format.stream.available := decompressor.stream.available
    format.stream.last := decompressor.stream.last
    format.stream.fault := decompressor.stream.fault
    format.position := decompressor.position
    format.begun := decompressor.begun && on
    format.firstByte := decompressor.firstByte
    format.room := decompressor.room
    format.literalsRoomy := decompressor.literalsRoomy
    format.roomy := decompressor.roomy
    format.line.valid := decompressor.line.valid && on
    format.line.bits := decompressor.line.bits
    format.drained := decompressor.drained
    format.made := decompressor.made
    format.closed := decompressor.closed && on
  }

  // Into the input. The number of consumed bytes is known late: no multiplexer follows it.
  decompressor.stream.consume := formats.map(_.stream.consume).reduce(_ | _)
  decompressor.seek.valid := anyOf(_.seek.valid)
  decompressor.seek.bits := ofChosen(_.seek.bits)
  decompressor.enter.valid := anyOf(_.enter.valid)
  decompressor.enter.bits := ofChosen(_.enter.bits)
  // Only one format has readers of its own, which are quiet while others work.
  private val readers = formats.flatMap(_.memory)
  decompressor.memory.zip(readers).foreach { case (port, memory) => port <> memory }
  decompressor.memoryIdle := formats.map(_.memoryIdle).reduce(_ && _)

  // Into the LZ77 decoder.
  decompressor.begin := anyOf(_.begin)
  // A dictionary is known long before a part begins.
  decompressor.before.foreach(_ := RegNext(formats.flatMap(_.before).head))
  decompressor.literals.valid := anyOf(_.literals.valid)
  decompressor.literals.bits.window := ofChosen(_.literals.bits.window)
  decompressor.literals.bits.at := ofChosen(_.literals.bits.at)
  decompressor.literals.bits.count := ofChosen(_.literals.bits.count)
  decompressor.segments.valid := anyOf(_.segments.valid)
  decompressor.segments.bits.segments.zipWithIndex.foreach { case (segment, lane) =>
    segment.valid := ofChosen(_.segments.bits.segments(lane).valid)
    segment.literal := ofChosen(_.segments.bits.segments(lane).literal)
    segment.length := ofChosen(_.segments.bits.segments(lane).length)
    segment.offset := ofChosen(_.segments.bits.segments(lane).offset)
    segment.fromDictionary.foreach {
      _ := ofChosen(_.segments.bits.segments(lane).fromDictionary.getOrElse(false.B))
    }
  }
  decompressor.starved := anyOf(_.starved)

  // Into the control.
  decompressor.lineReady := ofChosen(_.lineReady)
  decompressor.close := anyOf(_.close)
  decompressor.hashed := ofChosen(_.hashed)
  decompressor.finished := anyOf(_.finished)
  decompressor.failed := anyOf(_.failed)
  decompressor.failure := ofChosen(_.failure)
  decompressor.element := ofChosen(_.element)
}
