package rackwright.compression

import rackwright.unit.Parameter

/** The parameters of elaboration that decompressors have in common. */
object DecompressorArguments {

  /** Those of a decompressor whose format uses `historyMost` KiB at most.
    *
    * @param rate
    *   what the format can do in a cycle.
    * @param waiting
    *   what waits between decoding and execution.
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
