package rackwright.zstd

import rackwright.contract.HardwareUnit
import rackwright.elaborate.{Parameter, ParameterValues, UnitDescription}
import rackwright.lz77.{EncoderParams, HashFunction}

/** The ZStd compressor for elaboration. */
object ZstdCompressorDescription extends UnitDescription {
  val name: String = "zstd-compress"
  val summary: String = "Compresses a buffer to a Zstandard frame (RFC 8878)."
  val status: String = "ready"

  val parameters: Seq[Parameter] = Seq(
    Parameter.choice("port-bytes", 32, Seq(16, 32), "bytes per beat of the memory ports"),
    Parameter.powerOfTwo("history-kib", 64, 2, 64, "KiB of input kept for matching"),
    Parameter.integer(
      "hash-log2",
      15,
      EncoderParams.minHashLog2 to EncoderParams.maxHashLog2,
      "log2 of the entries of the hash table, over all ways"
    ),
    Parameter.choice("hash-ways", 2, Seq(1, 2, 4), "entries looked at per position"),
    Parameter.choice("hash-banks", 32, Seq(8, 16, 32), "memories the hash table is spread over"),
    Parameter.word(
      "hash-function",
      HashFunction.Multiplicative.name,
      HashFunction.all.map(_.name),
      "how four bytes choose a set"
    ),
    Parameter.powerOfTwo("block-kib", 32, 4, 64, "KiB of input that a block stands for, at most"),
    Parameter.powerOfTwo("outstanding", 64, 4, 64, "beats outstanding on each port"),
    Parameter.integer("command-queue", 4, 1 to 8, "operations that may wait for the unit")
  )

  def build(values: ParameterValues): HardwareUnit = new ZstdCompressor(
    ZstdCompressorParams(
      EncoderParams(
        historyKib = values.int("history-kib"),
        hashLog2 = values.int("hash-log2"),
        hashWays = values.int("hash-ways"),
        hashBanks = values.int("hash-banks"),
        hashFunction = HashFunction(values.word("hash-function")),
        literalKib = 1,
        dictionary = true
      ),
      blockKib = values.int("block-kib"),
      portBytes = values.int("port-bytes"),
      outstanding = values.int("outstanding"),
      commandQueue = values.int("command-queue")
    )
  )
}
