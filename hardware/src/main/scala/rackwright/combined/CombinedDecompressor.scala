package rackwright.combined

import chisel3._

import rackwright.compression.FormatDecompressorUnit
import rackwright.deflate.decode.StreamBoxes
import rackwright.operation.Operation
import rackwright.snappy.ElementBoxes
import rackwright.stream.StreamRange
import rackwright.zstd.decode.{FrameBoxes, ZstdDecompressor}

/** The unit `combined-decompress`: from data of the format that each operation names to a buffer in memory. README.md
  * is the contract.
  *
  * @param params
  *   what to build.
  */
class CombinedDecompressor(params: CombinedDecompressorParams = CombinedDecompressorParams())
    extends FormatDecompressorUnit(
      params,
      CombinedDecompressor.supported(params),
      CombinedDecompressor.dictionary(params)
    ) {
  private val select = Module(new DecompressorSelect(params))
  private val boxes = params.algorithms.map {
    case Algorithm.Snappy => Module(new ElementBoxes(params.snappy)).decompressor
    case Algorithm.Zstd => Module(new FrameBoxes(params.zstd)).decompressor
    case Algorithm.Deflate => Module(new StreamBoxes(params.deflate)).decompressor
  }

  boxes.zip(select.formats).foreach { case (format, port) => format <> port }
  connect(select.decompressor)
}

/** The operations of a [[CombinedDecompressor]]. */
object CombinedDecompressor {

  /** Whether the algorithm is supported with the other settings. */
  def supported(params: CombinedDecompressorParams)(operation: Operation): Bool =
    params.algorithms.map { algorithm =>
      val able = algorithm match {
        case Algorithm.Zstd => ZstdDecompressor.supported(params.zstd)(operation)
        case Algorithm.Snappy => !params.inPieces(operation)
        case _ => true.B
      }
      algorithm.asked(code(params, operation)) && able
    }.reduce(_ || _)

  /** ZStd's dictionary, if ZStd is one of the formats; other operations have none. */
  def dictionary(params: CombinedDecompressorParams): Option[Operation => StreamRange] =
    Option.when(params.algorithms.contains(Algorithm.Zstd)) { operation =>
      val range = WireDefault(ZstdDecompressor.dictionary(params.zstd)(operation))
      when(!Algorithm.Zstd.asked(code(params, operation))) { range.length := 0.U }
      range
    }

  private def code(params: CombinedDecompressorParams, operation: Operation): UInt =
    operation.setting(params.algorithm.name)
}
