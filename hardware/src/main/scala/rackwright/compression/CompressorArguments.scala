package rackwright.compression

import rackwright.lz77.encode.{EncoderParams, HashFunction}
import rackwright.unit.{Parameter, ParameterValues}

/** The parameters of elaboration that compressors have in common. */
object CompressorArguments {

  /** The parameters of the LZ77 encoder, with the defaults of a compressor. */
  def encoder(defaults: EncoderParams, historyMost: Int = EncoderParams.historyRange.max): Seq[Parameter] = Seq(
    Parameter.powerOfTwo("history-kib", defaults.historyKib, 2, historyMost, "KiB of input kept for matching"),
    Parameter.integer(
      "hash-log2",
      defaults.hashLog2,
      EncoderParams.minHashLog2 to EncoderParams.maxHashLog2,
      "log2 of the entries of the hash table, over all ways"
    ),
    Parameter.choice("hash-ways", defaults.hashWays, Seq(1, 2, 4), "entries looked at per position"),
    Parameter.choice(
      "hash-banks",
      defaults.hashBanks,
      Seq(8, 16, 32),
      "memories the hash table is spread over"
    ),
    Parameter.word(
      "hash-function",
      defaults.hashFunction.name,
      HashFunction.all.map(_.name),
      "how four bytes choose a set"
    )
  )

  /** Of a format that gathers blocks. */
  def blockKib(most: Int): Parameter =
    Parameter.powerOfTwo("block-kib", 32, 4, most, "KiB of input that a block stands for, at most")

  /** The values of [[encoder]]'s parameters, on top of the defaults. */
  def encoderOf(values: ParameterValues, defaults: EncoderParams): EncoderParams = defaults.copy(
    historyKib = values.int("history-kib"),
    hashLog2 = values.int("hash-log2"),
    hashWays = values.int("hash-ways"),
    hashBanks = values.int("hash-banks"),
    hashFunction = HashFunction(values.word("hash-function"))
  )
}
