package rackwright.snappy

import chisel3._

import rackwright.access.{BeatLoader, LineWriter}
import rackwright.compression.DecompressorUnit
import rackwright.lz77.decode.Decoder

/** The unit `snappy-decompress`: from a Snappy stream in memory to a buffer in memory. README.md is the contract.
  *
  * @param params
  *   what to build.
  */
class SnappyDecompressor(params: SnappyDecompressorParams = SnappyDecompressorParams())
    extends DecompressorUnit(params) {
  private val control = Module(new SnappyDecompressorControl(params))
  private val loader = Module(new BeatLoader(params.port, params.outstanding))
  private val elements = Module(new SnappyElementDecoder(params.decoder))
  private val decoder = Module(new Decoder(params.decoder))
  private val writer = Module(new LineWriter(params.port, params.outstanding))
  connect(control.decode, decoder, writer, elements.starved, settled = Some(control.counted))

  control.operation <> router.operation
  router.result <> control.result

  loader.range <> control.load
  loader.stop := control.stop
  loader.memory <> read

  elements.open.valid := control.load.fire
  elements.open.bits := control.load.bits.address
  elements.beat <> loader.beat
  elements.stop := control.stop
  elements.start.valid := control.decode.valid
  elements.start.bits := control.preambleBytes
  elements.declared := control.declared
  elements.inputLeft := control.bodyBytes
  elements.enable := control.body && decoder.roomy
  control.preamble := elements.preamble
  control.inputFault := elements.faultAhead
  control.finished := elements.finished
  control.malformed := elements.malformed
  control.unreadable := elements.unreadable
  control.elementLeft := elements.elementLeft

  decoder.abandon := control.abandon
  decoder.input := elements.output
  decoder.literals := elements.literals
  decoder.finish := control.finish
  control.made := decoder.made

  writer.line <> decoder.output

  control.refused := decoder.faulted || writer.faulted
  control.drained := decoder.drained
  control.loaderIdle := loader.idle
  control.writerQuiet := writer.quiet

  idle := router.idle && loader.idle && writer.quiet && decoder.drained

  event("elements", decoder.events.segments)
}
