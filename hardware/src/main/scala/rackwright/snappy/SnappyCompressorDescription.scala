package rackwright.snappy

import rackwright.contract.HardwareUnit
import rackwright.elaborate.{Parameter, ParameterValues, UnitDescription}
import rackwright.lz77.{EncoderParams, EntryContents, HashFunction}

/** The Snappy compressor for elaboration. */
object SnappyCompressorDescription extends UnitDescription {
  val name: String = "snappy-compress"
  val summary: String = "Compresses a buffer to a Snappy stream, eight bytes per cycle."
  val status: String = "ready"

  val parameters: Seq[Parameter] = Seq(
    Parameter.choice("port-bytes", 32, Seq(16, 32), "bytes per beat of the memory ports"),
    Parameter.powerOfTwo("history-kib", 64, 2, 64, "KiB of input kept for matching"),
    Parameter.integer(
      "hash-log2",
      14,
      EncoderParams.minHashLog2 to EncoderParams.maxHashLog2,
      "log2 of the entries of the hash table, over all ways"
    ),
    Parameter.choice("hash-ways", 1, Seq(1, 2, 4), "entries looked at per position"),
    Parameter.choice("hash-banks", 16, Seq(8, 16, 32), "memories the hash table is spread over"),
    Parameter.word(
      "hash-function",
      HashFunction.Multiplicative.name,
      HashFunction.all.map(_.name),
      "how four bytes choose a set"
    ),
    Parameter.word(
      "entry-contents",
      EntryContents.PositionAndKey.name,
      EntryContents.all.map(_.name),
      "what an entry of the hash table holds; without a key there is one way, and a candidate takes a cycle"
    ),
    Parameter.powerOfTwo("literal-kib", 4, 1, 64, "KiB of literals that may wait for the end of their run"),
    Parameter.powerOfTwo("outstanding", 64, 4, 64, "beats outstanding on each port"),
    Parameter.integer("command-queue", 4, 1 to 8, "operations that may wait for the unit")
  )

  def build(values: ParameterValues): HardwareUnit = new SnappyCompressor(
    SnappyCompressorParams(
      EncoderParams(
        historyKib = values.int("history-kib"),
        hashLog2 = values.int("hash-log2"),
        hashWays = values.int("hash-ways"),
        hashBanks = values.int("hash-banks"),
        hashFunction = HashFunction(values.word("hash-function")),
        entryContents = EntryContents(values.word("entry-contents")),
        literalKib = values.int("literal-kib")
      ),
      portBytes = values.int("port-bytes"),
      outstanding = values.int("outstanding"),
      commandQueue = values.int("command-queue")
    )
  )
}
