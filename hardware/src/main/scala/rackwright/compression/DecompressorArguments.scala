package rackwright.compression

import rackwright.unit.Parameter

/** The parameters of elaboration that decompressors have in common. */
object DecompressorArguments {

  /** The parameters of a decompressor whose format uses at most `historyMost` KiB.
    *
    * @param rate
    *   the rate of the format per cycle.
    * @param waiting
    *   the queue between decoding and execution.
    */
  def apply(rate: Parameter, waiting: String, historyMost: Int = 64): Seq[Parameter] = Seq(
    StreamArguments.portBytes,
    Parameter.powerOfTwo(
      "history-kib",
      historyMost,
      2,
      historyMost,
      "KiB of output kept on chip; copies from farther back read memory"
    ),
    rate,
    Parameter.powerOfTwo("lookahead", 256, 16, 256, s"$waiting that may wait between decoding and execution")
  ) ++ StreamArguments.streams
}
