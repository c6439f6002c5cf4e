package rackwright.lz77.encode

import chisel3._
import chisel3.util._

import EncoderParams._

/** What one operation asks of the encoder.
  *
  * @param dictionary
  *   whether input may begin with a dictionary.
  */
class EncoderJob(dictionary: Boolean = false) extends Bundle {

  /** Bytes of input. */
  val length = UInt(32.W)

  /** Number of groups of eight bytes at the start that are searched but not emitted; fewer than all groups. */
  val before = Option.when(dictionary)(UInt(EncoderParams.beforeBits.W))

  /** The furthest match allowed, in bytes; the encoder takes the smaller of this and what it was built for. */
  val maxOffset = UInt(17.W)

  /** log2 of the entries of the hash table to use, up to what was built. */
  val hashLog2 = UInt(4.W)
}

/** Eight positions of the input, searched together, with the bytes around them. */
class EncoderGroup extends Bundle {

  /** Byte i is the input's byte i - `backBytes` seen from the first position; zero outside the input. */
  val view = UInt((8 * viewBytes).W)

  /** The first position within its segment. */
  val position = UInt(segmentBits.W)

  /** Bytes from the first position to the end of the input, `span` if there are more. */
  val remaining = UInt(log2Ceil(span + 1).W)

  /** No group follows. */
  val last = Bool()

  /** The content that an entry of the hash table holds for position `lane`. */
  def content(lane: Int): UInt = view(8 * (lane + contentBytes) - 1, 8 * lane)

  /** The `count` bytes from position `lane` on. */
  def bytes(lane: Int, count: Int): UInt = view(8 * (backBytes + lane + count) - 1, 8 * (backBytes + lane))
}

/** A place where the bytes of one position have occurred before. */
class Candidate extends Bundle {

  /** Bytes from here back to there. */
  val distance = UInt(distanceBits.W)

  /** Bytes known to be equal from the position on; 0 if there is no match. */
  val length = UInt(foundBits.W)

  /** Bytes known to be equal before the position, 0 to `backBytes`. */
  val back = UInt(2.W)

  /** Only the history can tell the length. */
  val open = Bool()
}

/** A group with what the hash table knows about its positions. */
class CandidateGroup extends Bundle {
  val group = new EncoderGroup
  val lanes = Vec(EncoderParams.lanes, new Candidate)

  /** How many positions have a candidate. */
  def hits: UInt = PopCount(lanes.map(lane => lane.length =/= 0.U || lane.open))
}

/** How far the group's bytes equal those `distance` before them: positions from `from` (0 to 8) to `until` (8 to
  * `span`).
  */
class ProbeResult extends Bundle {
  val valid = Bool()
  val distance = UInt(distanceBits.W)
  val from = UInt(4.W)
  val until = UInt(foundBits.W)
}

/** The group's own bytes, its matches and the probe's result: all that choosing needs. */
class FoundGroup extends Bundle {
  val literals = UInt((8 * EncoderParams.lanes).W)

  /** How many of the group's positions exist, 1 to 8. */
  val count = UInt(4.W)
  val lanes = Vec(EncoderParams.lanes, new Candidate)
  val probe = new ProbeResult
  val last = Bool()
}

/** A match that may be chosen. */
class Choice extends Bundle {
  val distance = UInt(distanceBits.W)
  val length = UInt(foundBits.W)

  /** Worth taking if it directly follows a match. */
  val take = Bool()

  /** Worth taking even if it ends a run of literals. */
  val gainful = Bool()
}

/** A group ready for choosing. */
class ChoiceGroup extends Bundle {
  val literals = UInt((8 * EncoderParams.lanes).W)
  val count = UInt(4.W)
  val lanes = Vec(EncoderParams.lanes, new Choice)
  val probe = new ProbeResult
  val last = Bool()
}

/** A copy of `matchLength` bytes from `distance` back (none if 0), then `literals` bytes taken from the literal buffer.
  *
  * @param params
  *   sizes of the encoder.
  */
class Sequence(val params: EncoderParams) extends Bundle {
  val matchLength = UInt(matchBits.W)
  val distance = UInt(distanceBits.W)
  val literals = UInt(params.literalBits.W)

  /** Nothing follows. */
  val last = Bool()
}
