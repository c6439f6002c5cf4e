package rackwright.combined

import chisel3._

import rackwright.compression.{CompressorCore, CompressorUnit}
import rackwright.deflate.encode.DeflateBoxes
import rackwright.operation.Operation
import rackwright.snappy.SnappyElementEmitter
import rackwright.zstd.encode.BlockBoxes

/** The unit `combined-compress`: from a buffer in memory to data in the format that each operation selects. README.md
  * is the contract.
  *
  * @param params
  *   what to build.
  */
class CombinedCompressor(params: CombinedCompressorParams = CombinedCompressorParams())
    extends CompressorUnit(params) {
  private val core = Module(
    new CompressorCore(params, opcode, CombinedCompressor.supported(params), CombinedCompressor.reach(params))
  )
  private val select = Module(new FormatSelect(params))
  private val boxes = withReset(reset.asBool || core.clear) {
    params.algorithms.map {
      case Algorithm.Snappy => Module(new SnappyElementEmitter(params.snappy)).compressor
      case Algorithm.Zstd => Module(new BlockBoxes(params.zstd)).compressor
      case Algorithm.Deflate => Module(new DeflateBoxes(params.deflate)).compressor
    }
  }

  select.compressor <> core.format
  boxes.zip(select.formats).foreach { case (format, port) => format <> port }
  connect(core)
}

/** The operations of a [[CombinedCompressor]]. */
object CombinedCompressor {

  /** Whether the algorithm is supported. */
  def supported(params: CombinedCompressorParams)(operation: Operation): Bool =
    params.algorithms.map(_.asked(operation.setting(params.algorithm.name))).reduce(_ || _)

  /** The maximum distance of DEFLATE's matches, if the history is longer. */
  def reach(params: CombinedCompressorParams): Option[Operation => UInt] = {
    val shorter = params.algorithms.contains(Algorithm.Deflate) &&
      params.encoder.historyBytes > CombinedCompressorParams.deflateReach
    Option.when(shorter) { operation =>
      val deflate = Algorithm.Deflate.asked(operation.setting(params.algorithm.name))
      Mux(deflate, CombinedCompressorParams.deflateReach.U, params.encoder.historyBytes.U)
    }
  }
}
