package rackwright.snappy

import rackwright.compression.{CompressorArguments, StreamArguments}
import rackwright.lz77.encode.EntryContents
import rackwright.unit.{HardwareUnit, Parameter, ParameterValues, UnitDescription}

/** The Snappy compressor for elaboration. */
object SnappyCompressorDescription extends UnitDescription {
  val name: String = "snappy-compress"
  val summary: String = "Compresses a buffer to a Snappy stream, eight bytes per cycle."
  val status: String = "ready"

  private val defaults = SnappyCompressorParams().encoder

  private val own: Seq[Parameter] = Seq(
    Parameter.word(
      "entry-contents",
      EntryContents.PositionAndKey.name,
      EntryContents.all.map(_.name),
      "what an entry of the hash table holds; without a key there is one way, and a candidate takes a cycle"
    ),
    Parameter.powerOfTwo("literal-kib", 4, 1, 64, "KiB of literals that may wait for the end of their run")
  )

  val parameters: Seq[Parameter] = Seq(StreamArguments.portBytes) ++ CompressorArguments.encoder(defaults) ++ own ++
    StreamArguments.streams :+ StreamArguments.streaming

  def build(values: ParameterValues): HardwareUnit = new SnappyCompressor(
    SnappyCompressorParams(
      CompressorArguments.encoderOf(values, defaults).copy(
        entryContents = EntryContents(values.word("entry-contents")),
        literalKib = values.int("literal-kib")
      ),
      stream = StreamArguments.sizesOf(values)
    )
  )
}
