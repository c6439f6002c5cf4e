package rackwright.lz77.encode

import chisel3._
import chisel3.util._

import EncoderParams._

/** Decides which entries of the hash table are matches, and how much of each match is known without the history.
  *
  * Pure logic. With keys a match is proven here: the bytes in the entry are compared, up to `keyBytes` from the
  * position on and `backBytes` before it. Without keys every entry within reach is a match of unknown length.
  *
  * @param params
  *   sizes of the encoder.
  */
class EncoderCandidates(params: EncoderParams) extends Module {
  val found = IO(Input(new HashFound(params)))

  /** The furthest distance allowed in this operation. */
  val reach = IO(Input(UInt(17.W)))
  val candidates = IO(Output(new CandidateGroup))

  candidates.group := found.group
  for (lane <- 0 until lanes)
    candidates.lanes(lane) := found.entries(lane).map(candidate(lane, _)).reduce(better)

  private def candidate(lane: Int, entry: HashEntry): Candidate = {
    val distance = (found.group.position | lane.U) - entry.position
    val near = entry.valid && distance <= reach
    val result = Wire(new Candidate)
    result.distance := distance(distanceBits - 1, 0)
    if (params.keyed) {
      val length = keyLength(lane, entry.content)
      result.length := Mux(near && length >= minMatch.U, length, 0.U)
      result.back := keyBack(lane, entry)
      result.open := near && length === keyBytes.U
    } else {
      result.length := 0.U
      result.back := 0.U
      result.open := near
    }
    result
  }

  /** Bytes of the key equal to those at the position and inside the input. */
  private def keyLength(lane: Int, content: UInt): UInt = {
    val mine = found.group.bytes(lane, keyBytes)
    val equal = (0 until keyBytes).map { i =>
      found.group.remaining > (lane + i).U &&
      content(8 * (backBytes + i) + 7, 8 * (backBytes + i)) === mine(8 * i + 7, 8 * i)
    }
    MuxCase(keyBytes.U, equal.zipWithIndex.map { case (same, i) => !same -> i.U })
  }

  /** Bytes before the position equal to those in the entry; an entry at the start has nothing before it. */
  private def keyBack(lane: Int, entry: HashEntry): UInt = {
    val mine = found.group.content(lane)
    val first = entry.content(15, 8) === mine(15, 8) && entry.position =/= 0.U
    val second = entry.content(7, 0) === mine(7, 0) && entry.position =/= 1.U
    Mux(first, Mux(second, 2.U, 1.U), 0.U)
  }

  /** The longer of two matches, the nearer of equally long ones. */
  private def better(a: Candidate, b: Candidate): Candidate =
    Mux(b.length > a.length || (b.length === a.length && b.distance < a.distance), b, a)
}
