package rackwright.lz77.encode

import chisel3.util._

/** The conversion of four bytes to an index of the hash table. */
sealed trait HashFunction {

  /** The name on the elaboration command line. */
  def name: String
}

object HashFunction {

  /** The top bits of the product with 0x1e35a7bd, as the reference library does. */
  case object Multiplicative extends HashFunction { val name = "multiplicative" }

  /** Exclusive-or of shifted copies: no multiplier, slightly more collisions. */
  case object XorFold extends HashFunction { val name = "xor-fold" }

  val all: Seq[HashFunction] = Seq(Multiplicative, XorFold)

  /** The function called `name`; an unknown name is an error that lists the known ones. */
  def apply(name: String): HashFunction = all.find(_.name == name).getOrElse(
    throw new IllegalArgumentException(s"hash-function is one of ${all.map(_.name).mkString(", ")}, not $name")
  )
}

/** The contents of an entry of the hash table. */
sealed trait EntryContents {

  /** The name on the elaboration command line. */
  def name: String
}

object EntryContents {

  /** A position only: every candidate is checked in the history, one per cycle. */
  case object Position extends EntryContents { val name = "position" }

  /** A position and the bytes around it: candidates are checked without the history. */
  case object PositionAndKey extends EntryContents { val name = "position+key" }

  val all: Seq[EntryContents] = Seq(Position, PositionAndKey)

  /** The contents called `name`; an unknown name is an error that lists the known ones. */
  def apply(name: String): EntryContents = all.find(_.name == name).getOrElse(
    throw new IllegalArgumentException(s"entry-contents is one of ${all.map(_.name).mkString(", ")}, not $name")
  )
}

/** The parameters of an LZ77 encoder.
  *
  * @param historyKib
  *   KiB of input stored on chip for matching: a power of two, 2 to 64.
  * @param hashLog2
  *   log2 of the entries of the hash table, over all ways: 9 to 15.
  * @param hashWays
  *   entries compared per position: 1, 2 or 4.
  * @param hashBanks
  *   memories the hash table is spread over: 8, 16 or 32. Eight positions compete for them in every cycle; positions
  *   without a bank are not looked up.
  * @param hashFunction
  *   see [[HashFunction]].
  * @param entryContents
  *   see [[EntryContents]].
  * @param literalKib
  *   bytes of literals that may wait for the end of their run, in KiB: a power of two, 1 to 64.
  * @param dictionary
  *   input may begin with a dictionary, into which matches reach.
  */
case class EncoderParams(
    historyKib: Int = 64,
    hashLog2: Int = 14,
    hashWays: Int = 1,
    hashBanks: Int = 16,
    hashFunction: HashFunction = HashFunction.Multiplicative,
    entryContents: EntryContents = EntryContents.PositionAndKey,
    literalKib: Int = 4,
    dictionary: Boolean = false
) {
  require(
    EncoderParams.historyRange.contains(historyKib),
    s"history-kib is a power of two from 2 to 64, not $historyKib"
  )
  require(
    hashLog2 >= EncoderParams.minHashLog2 && hashLog2 <= EncoderParams.maxHashLog2,
    s"hash-log2 is ${EncoderParams.minHashLog2} to ${EncoderParams.maxHashLog2}, not $hashLog2"
  )
  require(Set(1, 2, 4).contains(hashWays), s"hash-ways is 1, 2 or 4, not $hashWays")
  require(Set(8, 16, 32).contains(hashBanks), s"hash-banks is 8, 16 or 32, not $hashBanks")
  require(isPow2(literalKib) && literalKib <= 64, s"literal-kib is a power of two from 1 to 64, not $literalKib")
  require(
    keyed || hashWays == 1,
    s"hash-ways is 1 with entry-contents position (not $hashWays): without a key the ways can't be told apart"
  )

  /** True if entries contain the bytes around their position. */
  def keyed: Boolean = entryContents == EntryContents.PositionAndKey

  val historyBytes: Int = historyKib * 1024

  /** Maximum distance by which the history is written ahead of the group that is probed, rounded up. Without keys
    * groups wait between the two.
    */
  val historyLead: Int = if (keyed) 128 else 256

  /** The furthest match. */
  val maxDistance: Int = historyBytes - historyLead

  val wayBits: Int = log2Ceil(hashWays)
  val bankBits: Int = log2Ceil(hashBanks)

  /** Bits that choose a set, the low `bankBits` of them the bank. */
  val indexBits: Int = hashLog2 - wayBits
  val rowBits: Int = indexBits - bankBits
  val rows: Int = 1 << rowBits

  val literalBytes: Int = literalKib * 1024

  /** A run of literals is closed before the buffer has no room for another group: it could not leave then. */
  val maxLiteralRun: Int = literalBytes - 2 * EncoderLiterals.reserve
  val literalBits: Int = log2Ceil(literalBytes + 1)
}

/** Constants of the structure of the encoder. */
object EncoderParams {

  /** Positions searched per cycle, and so the most input bytes per cycle. */
  val lanes: Int = 8
  val laneBits: Int = 3

  /** The shortest match: that many bytes are hashed. */
  val minMatch: Int = 4

  /** Bytes from its position on that an entry of the hash table holds. */
  val keyBytes: Int = 8

  /** Bytes before a position that are compared as well, to start a match earlier than it was found. */
  val backBytes: Int = 2

  /** Bytes from the first lane on that one probe of the history compares. */
  val span: Int = 32

  /** Bytes visible together: those before the group and those that a probe compares. */
  val viewBytes: Int = backBytes + span

  /** Bytes of an entry's content. */
  val contentBytes: Int = backBytes + keyBytes

  /** Positions in the hash table count within a segment of the input; a segment starts with an empty table. */
  val segmentBits: Int = 20

  /** The table is emptied by counting generations; an entry of another generation is void. */
  val generationBits: Int = 6

  /** Bits of a number of groups that fill the largest history. */
  val beforeBits: Int = 14

  /** Bits of a distance: up to 65535. */
  val distanceBits: Int = 16

  /** Bits of the length of a match as found: up to `span` plus `backBytes`. */
  val foundBits: Int = 6

  /** Bits of the length of a match in a [[Sequence]]. */
  val matchBits: Int = 7

  val historyRange: Seq[Int] = Seq(2, 4, 8, 16, 32, 64)
  val minHashLog2: Int = 9
  val maxHashLog2: Int = 15
}
