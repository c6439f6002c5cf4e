package rackwright.compression

import chisel3._
import chisel3.util._

import rackwright.access.{LineWriter, MemoryArbiter}
import rackwright.lz77.decode.{Decoder, DecoderStart}
import rackwright.operation.Operation
import rackwright.stream.StreamRange

/** All parts of a decompressor except its format: commands, the input as a stream, the LZ77 decoder and output.
  *
  * @param params
  *   what to build.
  * @param supported
  *   whether the format supports an operation's settings.
  * @param dictionary
  *   the dictionary of an operation, if the format has dictionaries.
  */
abstract class FormatDecompressorUnit(
    params: DecompressorParams,
    supported: Operation => Bool,
    dictionary: Option[Operation => StreamRange] = None
) extends DecompressorUnit(params) {
  private val control = Module(new DecompressorControl(params, supported, dictionary))
  private val cursor = Module(new InputCursor(params.port, params.outstanding, params.streaming))
  private val decoder = Module(new Decoder(params.decoder))
  private val writer = Module(new LineWriter(params.port, params.outstanding))

  control.operation <> router.operation
  router.result <> control.result
  control.extension.zip(router.extension).foreach { case (to, from) => to <> from }
  router.written.zip(control.inMemory).foreach { case (to, from) => to := from }

  /** Connects the boxes of the format, whose [[DecompressorPort]] this is. */
  protected def connect(format: DecompressorPort): Unit = {
    val start = Wire(Valid(new DecoderStart(params.decoder)))
    start := control.decode
    connect(start, decoder, writer, format.starved, control.lines)
    feed(format)
    decode(format)
    report(format)
  }

  private def feed(format: DecompressorPort): Unit = {
    format.open := control.open
    format.settings := control.settings
    format.limited := control.limited
    format.clear := control.stop
    cursor.open.valid := control.open.valid || format.enter.valid
    cursor.open.bits := Mux(format.enter.valid, format.enter.bits, control.open.bits)
    cursor.seek := format.seek
    cursor.stop := control.stop
    cursor.extend.zip(control.extend).foreach { case (to, from) => to := from }
    control.extending.zip(cursor.extending).foreach { case (to, from) => to := from }
    format.end.zip(cursor.end).foreach { case (to, from) => to := from }
    format.stream <> cursor.stream
    format.position := cursor.position
    if (params.readers == 0) read <> cursor.memory
    else {
      val reads = Module(new MemoryArbiter(params.port, 1 + params.readers))
      reads.ports.zip(cursor.memory +: format.memory).foreach { case (port, reader) => port <> reader }
      read <> reads.memory
    }
    control.inputReady := cursor.ready
    control.inputIdle := cursor.idle && format.memoryIdle
  }

  private def decode(format: DecompressorPort): Unit = {
    control.begin := format.begin
    control.before.zip(format.before).foreach { case (to, from) => to := from }
    format.begun := control.decode.valid
    format.firstByte := control.decode.bits.destination
    format.room := control.room
    decoder.abandon := control.abandon
    decoder.input := format.segments
    decoder.literals := format.literals
    decoder.finish := control.finish
    format.roomy := decoder.roomy
    format.literalsRoomy := decoder.literalsRoomy.get
    format.made := decoder.made
    control.made := decoder.made

    writer.line.valid := decoder.output.valid && format.lineReady
    writer.line.bits := decoder.output.bits
    decoder.output.ready := writer.line.ready && format.lineReady
    format.line.valid := decoder.output.fire
    format.line.bits := decoder.output.bits
    format.drained := decoder.drained
  }

  private def report(format: DecompressorPort): Unit = {
    control.close := format.close
    control.hashed := format.hashed
    format.closed := control.closed
    control.finished := format.finished
    control.failed := format.failed
    control.failure := format.failure
    control.element := format.element
    control.refused := decoder.faulted || writer.faulted
    control.drained := decoder.drained
    control.writerQuiet := writer.quiet
    idle := router.idle && cursor.idle && format.memoryIdle && writer.quiet && decoder.drained
  }
}
